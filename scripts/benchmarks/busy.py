"""How fast an agent is answered while the daemon has other things to do: a backlog drains."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from itertools import cycle

from benchmarks import shelf
from benchmarks.daily import PROJECTS
from benchmarks.homes import Options
from benchmarks.recall import QUERIES, queries_of
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    Aim,
    Figure,
    Lab,
    Wire,
    lab,
    launcher,
    processor_s,
    spool,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import EVENTS
from observer.core.paths import Home
from observer.local.spool import Spool

SIZES = (10_000, 100_000)
AIM = Aim(percent=95, most=50.0)


def run(options: Options) -> Iterator[Figure]:
    """Yield the milliseconds of a search at rest, and while a backlog is drained, by size."""
    sizes = (options.items,) if options.items else SIZES[:1] if options.share < 1 else SIZES
    for items in sizes:
        database = shelf.opened(options.texts, options.work, items)
        with lab(options) as place:
            shutil.copyfile(database, place.home.database)
            queries = queries_of(shelf.read(options.texts), options.rounds(QUERIES))
            daemon = place.up()
            with wire(launcher(), place.folder) as asked:
                until(lambda a=asked: "degraded" not in a.call("search", query="total"), wait_s=900)
                texts = [text for pair in zip(*queries.values(), strict=True) for text in pair]
                asks = [_search(asked, text) for text in texts]
                for _ in map(took_ms, asks):  # so that what follows is warm
                    pass
                yield _at_rest(asks, daemon, items)
                yield from _draining(place, asks, options.rounds(EVENTS), items)


def _search(asked: Wire, text: str) -> Callable[[], object]:
    return lambda: asked.call("search", query=text)


def _at_rest(asks: list[Callable[[], object]], daemon: int, items: int) -> Figure:
    before_s = processor_s(daemon)
    took = [took_ms(ask) for ask in asks]
    spent_ms = 1000 * (processor_s(daemon) - before_s) / len(took)
    remark = f"{spent_ms:.1f} ms of the daemon's processor time each"
    return Figure(f"search at rest, {items:,} items", took, " ms", remark=remark)


def _draining(
    place: Lab, asks: list[Callable[[], object]], count: int, items: int
) -> Iterator[Figure]:
    """Hand over a backlog at once, and search until it is stored."""
    aside = Home(place.folder / "aside")
    Spool(aside.spool).prepare()
    projects = [place.repository(name) for name in PROJECTS]
    spool(aside, EndlessWork(projects, random.Random(2)), count)  # noqa: S311 - the same work each time
    for folder in ("tmp", "new"):  # a name in `new` is an entry, whose bytes are in `tmp`
        for path in (aside.spool / folder).iterdir():
            path.rename(place.home.spool / folder / path.name)
    took = []
    for ask in cycle(asks):
        took.append(took_ms(ask))
        if not any((place.home.spool / "new").iterdir()):
            break
    spent_s = sum(took) / 1000
    remark = f"{count / spent_s:,.0f} events/s meanwhile"
    yield Figure(f"search while draining, {items:,} items", took, " ms", (AIM,), remark=remark)
