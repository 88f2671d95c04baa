"""A day's work: how fast the daemon starts, stores and answers, and what that costs.

By itself, `drained` compares how fast a backlog becomes searchable by the daemon and without one.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.homes import Options
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    Figure,
    Lab,
    Wire,
    is_quiet,
    lab,
    launcher,
    rss_mib,
    sources,
    spool,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import ANSWER, DRAIN, EVENTS, cost, disk_bytes
from observer.cli.doctor.speed import drained as by_daemon
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore

PROJECTS = ("shop", "billing", "site")
QUERIES = 800
_WORD = re.compile(r"[A-Za-z_]{4,30}")
_WORDS_OF_A_QUERY = 3


def run(options: Options) -> Iterator[Figure]:
    """Yield events a second, latencies of answers, memory and disk after days of all sorts."""
    with lab(options) as place:
        projects = [place.repository(name) for name in PROJECTS]
        count = options.rounds(EVENTS)
        spool(place.home, _work(projects), count)
        rate, remark = by_daemon(place, count)
        remark = f"{count:,} events; {remark}"
        yield Figure("events stored and searchable", [rate], " events/s", (DRAIN,), remark=remark)
        with wire(launcher(), projects[0]) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"))
            daemon = place.up()
            until(lambda: is_quiet(daemon))
            yield from _answers(options, asked)
        yield Figure("daemon after all this, memory", [rss_mib(daemon)], " MiB")
        place.down()
        yield Figure("disk, an event", [disk_bytes(place) / count / 1000], " KB")


def _work(projects: Sequence[Path]) -> EndlessWork:
    return EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time


def _answers(options: Options, asked: Wire) -> Iterator[Figure]:
    queries = _queries(options.rounds(QUERIES))
    tools: dict[str, Callable[[str], object]] = {
        "search": lambda text: asked.call("search", query=text),
        "get_context with a query": lambda text: asked.call("get_context", query=text),
        "get_context": lambda _: asked.call("get_context"),
    }
    for name, ask in tools.items():
        took = [took_ms(partial(ask, text)) for text in queries]
        yield Figure(f"{name} over MCP", took, " ms", (ANSWER,))


def _queries(count: int) -> Sequence[str]:
    """Return a few words of one line of code each."""
    chance = random.Random(4)  # noqa: S311 - the same queries each time
    lines = [line for of_file in sources().values() for line in of_file]
    words = [found for line in lines if len(found := _WORD.findall(line)) >= _WORDS_OF_A_QUERY]
    return [" ".join(chance.choice(words)[:_WORDS_OF_A_QUERY]) for _ in range(count)]


def drained(options: Options) -> Iterator[Figure]:
    """Yield events a second of the daemon and of the pipeline in this process."""
    for by, drain in (("the daemon", by_daemon), ("the pipeline alone", _by_pipeline)):
        with lab(options) as place:
            projects = [place.repository(name) for name in PROJECTS]
            count = options.rounds(EVENTS)
            size_bytes = spool(place.home, _work(projects), count)
            rate, remark = drain(place, count)
            remark = f"{remark}; {count:,} events of {size_bytes / count / 1000:.1f} KB"
            yield Figure(f"drained by {by}", [rate], " events/s", (DRAIN,), remark=remark)


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
    return count / took_s, cost(cpu_s, count)
