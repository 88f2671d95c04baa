"""Years of work on one daemon in one go: what it keeps, and what grows with the memory."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.daily import PROJECTS
from benchmarks.homes import Options
from benchmarks.load import FLAT, spooled, stored
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    APART_MS,
    Aim,
    Figure,
    Wire,
    lab,
    launcher,
    rss_mib,
    sources,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import NONE
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.upkeep.size_cap import total_bytes

EVENTS = 1_000_000
PARTS = 10
OF_SESSIONS = 2_000
"""Events of a few sessions side by side; then others begin."""
WAITING = 4_000
SEARCHES = 200
SEARCHED = Aim(percent=95, most=50.0)
WAIT_S = 3_600.0


def run(options: Options) -> Iterator[Figure]:
    """Yield search times by the size of the memory, and what was lost and doubled."""
    count = options.items or options.rounds(EVENTS)
    begun_ms = round(time.time() * 1000) - count * APART_MS
    with lab(options) as place:
        projects = [place.repository(name) for name in PROJECTS]
        daemon = place.up()
        own_mib = []
        with wire(launcher(), projects[0]) as asked:
            for part in range(PARTS):
                numbers = range(part * count // PARTS, (part + 1) * count // PARTS)
                began = time.monotonic()
                _replay(place.home, projects, numbers, begun_ms)
                rate = len(numbers) / (time.monotonic() - began)
                took = _searched(asked, part)
                own_mib.append(rss_mib(daemon, "RssAnon"))
                remark = (
                    f"{rate:,.0f} events/s; RssAnon {own_mib[-1]:.0f} MiB,"
                    f" RssFile {rss_mib(daemon, 'RssFile'):.0f} MiB;"
                    f" home {total_bytes(place.home) / 1e6:,.0f} MB"
                )
                name = f"soak: search among {numbers.stop:,} events"
                yield Figure(name, took, " ms", (SEARCHED,), remark)
        place.down()
        yield from _kept(place.home, count)
    yield Figure("soak: RssAnon, last tenth to first", [own_mib[-1] / own_mib[0]], "x", (FLAT,))


def _name(number: int) -> str:
    return f"soak-{number:09}"


def _replay(home: Home, projects: Sequence[Path], numbers: range, begun_ms: int) -> None:
    """Report what happened over weeks, a few thousand events at a time, until all are stored."""
    spool = Spool(home.spool)
    for start in range(numbers.start, numbers.stop, OF_SESSIONS):
        work = EndlessWork(projects, random.Random(start))  # noqa: S311 - the same work each time
        some = range(start, min(start + OF_SESSIONS, numbers.stop))
        for number, report in zip(some, islice(work, len(some)), strict=True):
            at = str(begun_ms + number * APART_MS)
            spooled(home, _name(number), report, at=at)
        until(lambda: spool.depth() <= WAITING, step_s=0.05, wait_s=WAIT_S)
    until(lambda: spool.depth() == 0, step_s=0.05, wait_s=WAIT_S)


def _searched(asked: Wire, part: int) -> list[float]:
    chance = random.Random(part)  # noqa: S311 - the same questions each time
    words = sorted({word for lines in sources().values() for word in " ".join(lines).split()})
    texts = [" ".join(chance.sample(words, 3)) for _ in range(SEARCHES)]
    return [took_ms(partial(asked.call, "search", query=text)) for text in texts]


def _kept(home: Home, count: int) -> Iterator[Figure]:
    offered, found = {_name(number) for number in range(count)}, stored(home.database)
    lost = len(offered - found.keys())
    doubled = sum(found.values()) - len(found) + len(found.keys() - offered)
    shown = f"{count:,} events reported, {sum(found.values()):,} stored"
    shown = f"{shown}, {Spool(home.spool).bad()} bad"
    yield Figure("soak: events lost", [float(lost)], "", (NONE,), shown)
    yield Figure("soak: events doubled", [float(doubled)], "", (NONE,))
