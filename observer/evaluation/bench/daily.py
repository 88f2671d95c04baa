"""A day's work: how fast the daemon starts, stores and answers, and what that costs."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence

from observer.evaluation.bench.drain import AIM as DRAIN
from observer.evaluation.bench.drain import EVENTS, PROJECTS, by_daemon
from observer.evaluation.bench.figure import Aim, Figure
from observer.evaluation.bench.lab import Lab, Options, lab, launchers, until
from observer.evaluation.bench.wire import ERAS, Wire, first_answer_ms, is_quiet, rss_mib, wire
from observer.evaluation.bench.work import EndlessWork, sources, spool

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
        rate, remark = by_daemon(place, count)
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
