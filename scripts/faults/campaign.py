"""Runs each way into each fault at its steps, and tells what the home had to show for it.

Every run is a process of its own, forked from this one: a step is the same in each, and what a
process leaves open or held ends with it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from faults import points
from faults.medium import Medium
from faults.points import Kind, Trap, watch
from faults.ways import COPY, PURGED, Way
from observer.core.errors import ObserverError
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.store.database import SqliteStore

Choose = Callable[[int], Iterable[int]]
"""Returns which of so many steps, numbered from 1."""
SEEDS = (0, 1, 2)
"""What a power failure leaves: nothing that was not forced, and two samples of the sectors."""
DONE, SAID, CRASHED = 0, 3, 4
DIED = -9


class Fault(NamedTuple):
    """Something that happens at a step: which steps, what, and whether to all later ones too."""

    name: str
    kinds: frozenset[Kind]
    number: int = 0
    is_lasting: bool = False


KILL = Fault("SIGKILL", points.ALL)
POWER = Fault("power cut", points.CHANGES)
FAULTS = (
    KILL,
    POWER,
    Fault("EIO once", points.ALL, errno.EIO),
    Fault("EIO from then on", points.CHANGES, errno.EIO, is_lasting=True),
    Fault("disk full from then on", points.GROWING, errno.ENOSPC, is_lasting=True),
    Fault("no descriptor left", points.OPENING, errno.EMFILE, is_lasting=True),
)


class Found(msgspec.Struct):
    """What a home holds after the work went on without faults."""

    ids: list[str]
    items: list[tuple[str, ...]]
    check: str
    waiting: int
    bad: int
    purged_files: list[str]
    copied: int


class Row(msgspec.Struct):
    """One line of the table: runs of one way into one fault, and what they came to."""

    way: str
    fault: str
    points: int = 0
    runs: int = 0
    offered: int = 0
    stored: int = 0
    lost: int = 0
    doubled: int = 0
    said: int = 0
    wrong: list[str] = msgspec.field(default_factory=list)


class Campaign:
    """A folder to work in, and for each way what it is without a fault.

    Args:
        folder: empty; homes come and go in it.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._offered: dict[str, set[str]] = {}
        self._whole: dict[str, Found] = {}
        self._points: dict[tuple[str, frozenset[Kind]], int] = {}

    def run(self, way: Way, fault: Fault, choose: Choose) -> Row:
        """Let a way run into a fault at the chosen of its steps, one after the other."""
        row = self.row(way, fault)
        for number in choose(row.points):
            self.strike(way, fault, number, row)
        return row

    def row(self, way: Way, fault: Fault) -> Row:
        """Return the empty line of a way and a fault: how many steps there are."""
        self._prepare(way)
        key = way.name, fault.kinds
        if key not in self._points:
            self._points[key] = self._count(way, fault)
        return Row(way.name, fault.name, points=self._points[key])

    def strike(self, way: Way, fault: Fault, number: int, row: Row) -> None:
        """Let a way run into a fault at one of its steps, and note in the line what came of it."""
        for name in self._hit(way, fault, number, row):
            where = f"{fault.name} at step {number} of {row.points} ({name})"
            self._judge(way, name, row, where)

    def _prepare(self, way: Way) -> None:
        if way.name in self._offered:
            return
        prepared = self._home(way, "prepared")
        answer = self._folder / "answer"
        forked(lambda: answer.write_bytes(msgspec.json.encode(sorted(way.prepare(prepared)))))
        self._offered[way.name] = set(msgspec.json.decode(answer.read_bytes(), type=list[str]))
        whole = self._fresh(way, "whole")
        forked(lambda: way.work(whole))
        self._whole[way.name] = self._found(way, "whole")

    def _count(self, way: Way, fault: Fault) -> int:
        home = self._fresh(way, "counted")
        trap = Trap(fault.kinds, 0, points.die)
        answer = self._folder / "answer"

        def count() -> None:
            watch(str(home.root), trap)
            way.work(home)
            answer.write_text(str(trap.count))

        forked(count)
        return int(answer.read_text())

    def _hit(self, way: Way, fault: Fault, number: int, row: Row) -> Iterator[str]:
        """Run into the fault; yield the names of the homes that are left to be looked at."""
        home = self._fresh(way, "hit")
        medium = Medium(home.root)
        left = [f"left-{seed}" for seed in SEEDS] if fault is POWER else ["hit"]
        for name in left:
            if name != "hit":
                shutil.rmtree(self._home(way, name).root, ignore_errors=True)

        def cut(step: points.Step) -> None:
            for seed, name in zip(SEEDS, left, strict=True):
                medium.survive(self._home(way, name).root, seed=seed and seed + 10 * number)
            points.die(step)

        act = points.failing(fault.number) if fault.number else points.die
        trap = Trap(
            fault.kinds, number, cut if fault is POWER else act, is_lasting=fault.is_lasting
        )

        def work() -> None:
            watch(str(home.root), trap, medium)
            way.work(home)

        ended = forked(work, quiet=True)
        row.said += ended == SAID
        expected = {DONE, SAID} if fault.number else {DIED}
        if ended not in expected:
            row.wrong.append(f"{fault.name} at step {number}: ended with {ended}")
        yield from left

    def _judge(self, way: Way, name: str, row: Row, where: str) -> None:
        found, whole = self._found(way, name), self._whole[way.name]
        offered = self._offered[way.name]
        times = Counter(found.ids)
        row.runs += 1
        row.offered += len(offered)
        row.stored += len(offered & set(found.ids))
        row.lost += len(offered - set(found.ids))
        row.doubled += sum(times.values()) - len(times) + len(set(found.ids) - offered)
        for what in ("check", "waiting", "bad", "items", "purged_files", "copied"):
            if getattr(found, what) != getattr(whole, what):
                shown = f"{getattr(found, what)!r:.200}, not {getattr(whole, what)!r:.200}"
                row.wrong.append(f"{where}: {what} {shown}")

    def _found(self, way: Way, name: str) -> Found:
        home, answer = self._home(way, name), self._folder / "answer"
        answer.unlink(missing_ok=True)

        def look() -> None:
            way.finish(home)
            answer.write_bytes(msgspec.json.encode(examined(home, way)))

        ended = forked(look)
        if not answer.exists():
            return Found([], [], f"cannot go on: {ended}", 0, 0, [], 0)
        return msgspec.json.decode(answer.read_bytes(), type=Found)

    def _home(self, way: Way, name: str) -> Home:
        return Home(self._folder / way.name.replace(" ", "-") / name)

    def _fresh(self, way: Way, name: str) -> Home:
        home = self._home(way, name)
        shutil.rmtree(home.root, ignore_errors=True)
        shutil.copytree(self._home(way, "prepared").root, home.root, symlinks=True)
        return home


def examined(home: Home, way: Way) -> Found:
    """Return what is in a home that nobody uses."""
    with closing(SqliteStore(home.database, steps=way.steps)) as store:
        with store.read() as reader:
            ids = [one.event.id for one in reader.log(limit=100_000)]
            items = sorted((item.type, item.title, item.narrative) for item in reader.all_items())
        check = store.check()
    spool = Spool(home.spool)
    files = [path for path in sorted(home.root.rglob("*")) if path.is_file()]
    holding = [path.name for path in files if PURGED.encode() in path.read_bytes()]
    return Found(ids, items, check, spool.depth(), spool.bad(), holding, _copied(home, way))


def _copied(home: Home, way: Way) -> int:
    """Return how many events are in the backup that was there before, -1 if it is gone."""
    if not (home.backups / COPY).exists():
        return -1
    store = SqliteStore(home.backups / COPY, steps=way.steps)
    with closing(store), store.read() as reader:
        return reader.totals().events


def spread(at_most: int) -> Choose:
    """Return a choice of so many steps, as far apart as can be, the first and the last included."""

    def choose(count: int) -> Sequence[int]:
        if count <= at_most:
            return range(1, count + 1)
        return sorted({1 + round(n * (count - 1) / (at_most - 1)) for n in range(at_most)})

    return choose


def forked(work: Callable[[], object], *, quiet: bool = False) -> int:
    """Do some work in a child, and return how it ended; negative is a signal."""
    child = os.fork()
    if not child:
        code = CRASHED
        sys.unraisablehook = lambda _: None  # SQLite closes what is left, into the same fault
        try:
            code = _ended(work, quiet=quiet)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _closing(error: apsw.Error) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return any(
        frame.name == "close" and frame.filename.endswith("/store/database.py") for frame in frames
    )


def _ended(work: Callable[[], object], *, quiet: bool) -> int:
    try:
        work()
    except (ObserverError, OSError) as error:
        # The daemon's doors tell of an OSError as well; anything else is nobody's plan.
        if not quiet:
            sys.stderr.write(f"{error}\n")
        return SAID
    except apsw.Error as error:
        # SQLite itself says nothing of a checkpoint that fails as it closes; apsw tells what our
        # own VFS raised.
        if _closing(error):
            return SAID
        traceback.print_exc()
        return CRASHED
    except BaseException:  # noqa: BLE001 - the last door of a process
        with suppress(OSError):
            traceback.print_exc()
        return CRASHED
    return DONE
