"""A day's work: how fast the daemon starts, stores and answers, and what that costs.

By itself, `drained` compares how fast a backlog becomes searchable by the daemon and without one.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.evaluation.bench.figure import Aim, Figure
from observer.evaluation.bench.lab import Lab, Options, lab, launchers, until
from observer.evaluation.bench.wire import (
    ERAS,
    Wire,
    first_answer_ms,
    is_quiet,
    processor_s,
    rss_mib,
    wire,
)
from observer.evaluation.bench.work import EndlessWork, sources, spool
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.spool.spool import Spool
from observer.store.database import SqliteStore

EVENTS = 20_000
PROJECTS = ("shop", "billing", "site")
DRAIN = Aim(least=3000.0)
STEP_S = 0.05
STARTS = 50
QUERIES = 800
_WORD = re.compile(r"[A-Za-z_]{4,30}")
_WORDS_OF_A_QUERY = 3


def run(options: Options) -> Iterator[Figure]:
    """Yield starts, events a second, latencies of answers, memory and disk of one home."""
    with lab(options) as place:
        yield _starts(options, place)
    with lab(options) as place:
        projects = [place.repository(name) for name in PROJECTS]
        work = EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time
        count = options.rounds(EVENTS)
        spool(place.home, work, count)
        rate, remark = _by_daemon(place, count)
        remark = f"{count:,} events; {remark}"
        yield Figure("events stored and searchable", [rate], " events/s", (DRAIN,), remark=remark)
        with wire(next(iter(launchers().values())), projects[0]) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"))
            daemon = place.up()
            until(lambda: is_quiet(daemon))
            yield from _answers(options, asked)
            yield Figure("observer mcp, memory", [rss_mib(asked.pid)], " MiB")
        yield Figure("daemon after all this, memory", [rss_mib(daemon)], " MiB")
        opened = [
            first_answer_ms(next(iter(launchers().values())), projects[0], ERAS[0])
            for _ in range(options.rounds(STARTS))
        ]
        yield Figure("observer mcp, to its first list of tools", opened, " ms")
        place.down()
        yield Figure("disk, an event", [_disk_bytes(place) / count / 1000], " KB")


def _starts(options: Options, place: Lab) -> Figure:
    """Time `observer up` from nothing running to an answer."""
    took = []
    for _ in range(options.rounds(STARTS)):
        begun = time.perf_counter()
        place.up()
        took.append((time.perf_counter() - begun) * 1000)
        place.down()
    return Figure("daemon, from its start to its first answer", took, " ms")


def _answers(options: Options, asked: Wire) -> Iterator[Figure]:
    queries = _queries(options.rounds(QUERIES))
    tools: dict[str, Callable[[str], object]] = {
        "search": lambda text: asked.call("search", query=text),
        "get_context with a query": lambda text: asked.call("get_context", query=text),
        "get_context": lambda _: asked.call("get_context"),
    }
    for name, ask in tools.items():
        took = []
        for text in queries:
            begun = time.perf_counter()
            ask(text)
            took.append((time.perf_counter() - begun) * 1000)
        yield Figure(f"{name} over MCP", took, " ms", (Aim(percent=95, most=50.0),))


def _queries(count: int) -> Sequence[str]:
    """Return a few words of one line of code each."""
    chance = random.Random(4)  # noqa: S311 - the same queries each time
    lines = [line for of_file in sources().values() for line in of_file]
    words = [found for line in lines if len(found := _WORD.findall(line)) >= _WORDS_OF_A_QUERY]
    return [" ".join(chance.choice(words)[:_WORDS_OF_A_QUERY]) for _ in range(count)]


def _disk_bytes(place: Lab) -> int:
    """Return what database and index take once all is stored; models and hooks are left out."""
    files = [place.home.database, *place.home.index.rglob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())


def drained(options: Options) -> Iterator[Figure]:
    """Yield events a second of the daemon and of the pipeline in this process."""
    for by, drain in (("the daemon", _by_daemon), ("the pipeline alone", _by_pipeline)):
        with lab(options) as place:
            projects = [place.repository(name) for name in PROJECTS]
            work = EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time
            count = options.rounds(EVENTS)
            size_bytes = spool(place.home, work, count)
            rate, remark = drain(place, count)
            remark = f"{remark}; {count:,} events of {size_bytes / count / 1000:.1f} KB"
            yield Figure(f"drained by {by}", [rate], " events/s", (DRAIN,), remark=remark)


def _by_daemon(place: Lab, count: int) -> tuple[float, str]:
    """Time from the first commit to the last; what the start costs is said beside it."""
    new = place.home.spool / "new"
    started = time.perf_counter()
    daemon = place.up()
    with place.store() as store:

        def stored() -> int:
            with store.read() as reader:
                return reader.totals().events

        until(stored, step_s=STEP_S)
        first, begun = stored(), time.perf_counter()
        # The daemon adds the ends of sessions that it takes for idle.
        until(lambda: stored() >= count and not any(new.iterdir()), step_s=STEP_S)
    done = time.perf_counter()
    cpu_s = processor_s(daemon)
    rate = (count - first) / (done - begun)
    remark = f"{done - started:.1f} s from `up` on, {_cost(cpu_s, count)}"
    return rate, remark


def _by_pipeline(place: Lab, count: int) -> tuple[float, str]:
    store = SqliteStore(place.home.database)
    pipeline = Pipeline(
        store,
        Spool(place.home.spool),
        settings=Settings(),
        places=PlaceCache(),
        now_ms=now_ms,
    )
    begun, begun_cpu = time.perf_counter(), time.process_time()
    while pipeline.drain().entries:
        pass
    took_s, cpu_s = time.perf_counter() - begun, time.process_time() - begun_cpu
    with store.read() as reader:
        stored = reader.totals().events
    store.close()
    if stored != count:
        raise RuntimeError(f"{count} events were spooled, {stored} stored")
    return count / took_s, _cost(cpu_s, count)


def _cost(cpu_s: float, count: int) -> str:
    return f"{cpu_s / count * 1e6:.0f} µs of processor time an event"
