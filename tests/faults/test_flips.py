"""A byte is flipped at random places of a home in turn: noticed, healed, nothing wrong shown.

One home is filled by real hooks' events, backed up, and partly purged; then, for each place, a copy
of it is damaged there and opened as a daemon opens it. What events and items say afterwards is
compared with what the home said before, and one more event has to be stored. The short form takes
30 places; `OBSERVER_FLIPS=1000 pytest -s tests/faults/test_flips.py` prints the whole table.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import ObserverError, StoreUnavailable
from observer.core.filters import Filters
from observer.core.paths import Home
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.store.connection import stemmer
from observer.store.database import SqliteStore
from observer.store.pages import damaged_pages
from observer.store.tombstones import Tombstones
from observer.tools import hook_output
from observer.upkeep.losses import losses, request_repair
from observer.upkeep.restore import has_damage, repair_if_damaged
from tests.support import Git, memory_over, pipeline_over

pytestmark = pytest.mark.slow

IS_LONG = "OBSERVER_FLIPS" in os.environ
FLIPS = int(os.environ.get("OBSERVER_FLIPS", "30"))
EVENTS = 60
PAGE = 4096


class Shown(NamedTuple):
    """What a home says: its events by id, its items by uuid, what a search found."""

    events: dict[str, str]
    items: dict[str, str]
    found: tuple[int, ...] = ()


class Outcome(NamedTuple):
    """What became of one flip. `has_changed`: what was shown would have been another thing."""

    has_changed: bool
    is_noticed: bool
    is_healed: bool
    is_wrong: bool
    captures: bool


def report(home: Home, number: int) -> None:
    chance = random.Random(number)
    body = {
        "kind": chance.choice(["command", "prompt", "file-write"]),
        "command": f"make part-{number}",
        "exit_code": number % 3,
        "output": chance.randbytes(chance.choice([10, 300, 3000])).hex(),
        "text": f"why does part {number} fail?",
        "path": f"src/part_{number}.py",
        "content": f"def part_{number}():\n    return {number}\n",
        "cwd": str(Path.home() / "code"),
        "session": f"s{number % 5}",
    }
    body = {name: body[name] for name in FIELDS[str(body["kind"])]}
    Spool(home.spool).prepare()
    Spool(home.spool).append({"client": "generic", "event": "x"}, json.dumps(body).encode())


COMMON = ("kind", "cwd", "session")
FIELDS = {
    "command": (*COMMON, "command", "exit_code", "output"),
    "prompt": (*COMMON, "text"),
    "file-write": (*COMMON, "path", "content"),
}


def pipeline(home: Home, store: SqliteStore) -> Pipeline:
    return pipeline_over(
        store, home, now_ms, settings=config.load(home), tombstones=Tombstones(home.tombstones)
    )


def drain(home: Home) -> None:
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        while pipeline(home, store).drain().entries:
            pass


def shown(home: Home) -> Shown:
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        if store.lost_events:  # as a command says before it shows what is left
            raise StoreUnavailable(f"{store.lost_events} events are missing")
        events = {one.event.id: repr(one.event) for one in reader.log(limit=10_000)}
        items = {item.uuid: repr(item) for item in reader.all_items()}
        reader.match("part", Filters(), limit=1_000)
    return Shown(events, items)


@contextmanager
def memory(home: Home, store: SqliteStore) -> Iterator[Memory]:
    index = Index(home.index, stem=stemmer(), is_owner=True)
    with closing(index):
        yield memory_over(store, index, 0)


def searched(home: Home) -> tuple[int, ...]:
    """Search, and have the index written, as a daemon does."""
    with (
        closing(SqliteStore(home.database, backups=home.backups)) as store,
        memory(home, store) as kept,
    ):
        return tuple(hit.item.id for hit in kept.search("why does the part fail").hits)


def refresh(home: Home) -> int:
    """Have the context files made anew; return how many were not what they should be."""
    with (
        closing(SqliteStore(home.database, backups=home.backups)) as store,
        memory(home, store) as kept,
    ):
        settings = config.load(home)
        return sum(hook_output.write(kept, each, home, settings) for each in kept.projects())


@pytest.fixture
def filled(home: Home, git: Git) -> Home:
    """A home as a killed daemon leaves it: a log beside the database, a copy, tombstones."""
    git(home.root.parent / "code", "init")
    for number in range(EVENTS):
        report(home, number)
    drain(home)
    Tombstones(home.tombstones).add([("gone", "", ())])
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        store.backup(home.backups / "observer-copy.db")
    searched(home)
    refresh(home)
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        for number in range(EVENTS, EVENTS + 20):
            report(home, number)
        pipeline(home, store).drain()
        searched(home)
        refresh(home)
        assert refresh(home) == 0  # so that it notices flips, and nothing else
        held = home.root.parent / "held"
        shutil.copytree(home.root, held, ignore=shutil.ignore_patterns("spool", "run"))
    return Home(held)


def derived(home: Home) -> dict[str, str]:
    """Return what the events of a home make, all of it made anew."""
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        pipeline(home, store).rebuild()
    return shown(home).items


def sort(home: Home, path: Path, place: int) -> str:
    """Return what stands at a place: the row of the table that it counts in."""
    if path == home.database:
        kinds = {2: "index", 5: "table", 10: "index", 13: "table"}
        start = place // PAGE * PAGE
        kind = kinds.get(path.read_bytes()[start or 100], "text, free")
        return "database, header" if place < 100 else f"database, {kind} pages"
    names = {folder.name for folder in path.parents}
    return next((one for one in ("backups", "index", "context") if one in names), path.name)


def places(home: Home, count: int) -> Iterator[tuple[Path, int]]:
    """Yield random places: two in three in the database and its log, the rest everywhere else."""
    chance = random.Random(7)
    large = [home.database, home.database.with_name("observer.db-wal")]
    rest = [path for path in sorted(home.root.rglob("*")) if path.is_file() and path not in large]
    others = {
        name: [path for path in rest if name in path.parts or path.name.startswith(name)]
        for name in ("backups", "index", "context", "tombstones", "observer.db-newest")
    }
    assert all(others.values()), others
    for number in range(count):
        path = chance.choice(large if number % 3 else others[chance.choice(sorted(others))])
        header = 100 if path == home.database and not number % 10 else path.stat().st_size
        yield path, chance.randrange(header)


def heal(home: Home) -> bool:
    """Do what a daemon does at its start and in quiet; return whether anything was noticed."""
    found = has_damage(home)
    if found:
        request_repair(home, "found in quiet")
    loss = repair_if_damaged(home, now_ms=now_ms)
    damaged = [path for path in copies(home) if damaged_pages(path)]
    return bool(found or loss or damaged)


def copies(home: Home) -> list[Path]:
    return [path for path in home.backups.glob("*.db") if "damaged" not in path.name]


def flipped(home: Home, path: Path, place: int, before: Shown) -> Outcome:
    """Damage one place of a home, open it as a daemon does, and compare what it says."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << place % 8
    path.write_bytes(content)
    is_noticed = False
    now = None
    try:
        now = shown(home)
    except (ObserverError, OSError):
        is_noticed = True
    is_noticed |= heal(home)
    found = searched(home)
    is_noticed |= refresh(home) > 0
    after = shown(home)
    lost = len(before.events.keys() - after.events.keys())
    # Of what is lost, no item tells any more: they are those that the events left would make.
    is_derived = not lost or after.items == derived(home)
    report(home, 10_000)
    drain(home)
    return Outcome(
        has_changed=now is None or now[:2] != before[:2],
        is_noticed=is_noticed,
        is_healed=after[:2] == before[:2],
        is_wrong=(
            (now is not None and differs(now, before))
            or differs(after if not lost else after._replace(items={}), before)
            or not is_derived
            or lost != sum(loss.lost for loss in losses(home))
            or (sorted(found) != sorted(before.found) and not lost)
            or not Tombstones(home.tombstones).names("gone", "", ())
        ),
        captures=len(shown(home).events) == len(after.events) + 1,
    )


def differs(said: Shown, before: Shown) -> bool:
    """Return True if anything is said that was not so before."""
    return not (
        said.events.items() <= before.events.items() and said.items.items() <= before.items.items()
    )


def table(outcomes: dict[str, list[Outcome]]) -> str:
    lines = ["| where | flips | changed an answer | noticed | healed | wrong | captures |"]
    for name, found in sorted(outcomes.items()):
        columns = [len(found), *(sum(column) for column in zip(*found, strict=True))]
        lines.append("| " + " | ".join(map(str, (name, *columns))) + " |")
    return "\n".join(lines)


def test_every_flipped_bit_that_matters_is_noticed_and_healed(
    filled: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes: dict[str, list[Outcome]] = {}
    whole = Home(tmp_path / "whole")
    shutil.copytree(filled.root, whole.root)
    before = shown(whole)._replace(found=searched(whole))
    for path, place in places(filled, FLIPS):
        name = sort(filled, path, place)
        home = Home(tmp_path / "flipped")
        shutil.copytree(filled.root, home.root)
        there = home.root / path.relative_to(filled.root)
        outcomes.setdefault(name, []).append(flipped(home, there, place, before))
        shutil.rmtree(home.root)
    with capsys.disabled():
        if IS_LONG:
            sys.stdout.write(f"\n{table(outcomes)}\n")
    found = [one for each in outcomes.values() for one in each]
    assert not [one for one in found if one.has_changed and not one.is_noticed]
    assert not [one for one in found if one.is_wrong or not one.captures]
    assert len(before.events) == EVENTS + 20
