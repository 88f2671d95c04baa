"""Above its greatest size a home loses copies, then old events of least worth, as announced."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing

import pytest
from legible import legible

from observer.core import config
from observer.core.config import Settings
from observer.core.events import Command, Commit, Event, FileRead, Prompt, Remember
from observer.core.paths import Home
from observer.projects.policy.policies import Retention
from observer.store.database import SqliteStore
from observer.tools.status import current, missing
from observer.upkeep import size_cap
from observer.upkeep.shred import clear_derived
from observer.upkeep.size_cap import total_bytes
from observer.upkeep.take_out import UNFINISHED, Rederivation, expired
from tests.support import pipeline_over
from tests.upkeep.purge.conftest import retaining

NOW_MS = 1_790_000_000_000
READS, COMMANDS = 36, 10


def _noise() -> str:
    """Return 36 kB that take 18 in the database."""
    return os.urandom(18_000).hex()


@pytest.fixture
def full(home: Home) -> Home:
    """A home in which 36 reads and 10 commands of 18 kB stand beside what is worth more."""
    bodies = [Prompt(text="mend the cart"), Remember(content="the customer likes tabs")]
    bodies += [FileRead(paths=(f"/x/{n}.py",), lines=_noise()) for n in range(READS)]
    bodies += [Command(command="make", output=_noise()) for _ in range(COMMANDS)]
    bodies += [Commit(hash="c0ffee", subject="Mend the cart")]
    with closing(SqliteStore(home.database)) as store:
        pipeline = pipeline_over(store, home, NOW_MS)
        for n, body in enumerate(bodies):
            at_ms = NOW_MS - 10**9 + n * 1000
            pipeline.ingest([Event(id=f"e{n}", at_ms=at_ms, client="c", session="s", body=body)])
    home.backups.mkdir()
    for n in range(3):
        copy = home.backups / f"observer-auto-{n}.db"
        with closing(SqliteStore(home.database)) as store:
            store.backup(copy)
        os.utime(copy, (n, n))
    return home


def kinds(home: Home) -> list[str]:
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        return [one.kind for one in reader.stored_events()]


def test_it_is_said_before_anything_goes(full: Home) -> None:
    with retaining(full, max_home_mb=1) as look:
        assert asyncio.run(look.look(NOW_MS)) == 0
    assert len(list(full.backups.glob("*.db"))) == 3
    shown = missing(full)
    assert "of 1 MiB (max_home_mb): above it old copies" in shown
    assert "size: the home takes" in (current(full).degraded or "")


def test_nothing_goes_by_what_is_written_before_somebody_agreed(full: Home) -> None:
    full.config.write_text("max_home_mb = 2\nretention_days = 1\n")
    before = kinds(full)

    def limits() -> dict[str, int]:
        found = config.load(full, {})
        return {"max_home_mb": found.max_home_mb, "retention_days": found.retention_days}

    with retaining(full, **limits()) as look:
        assert [asyncio.run(look.look(NOW_MS)) for _ in range(2)] == [0, 0]
    assert kinds(full) == before
    config.confirm(full, "max_home_mb", 2)
    assert config.load(full, {}).max_home_mb == 0, "it goes only together with the other"
    config.confirm(full, "retention_days", 1)
    with retaining(full, **limits()) as look:
        assert asyncio.run(look.look(NOW_MS)) > 0


def test_copies_go_first_and_then_the_oldest_of_least_worth(full: Home) -> None:
    with retaining(full, max_home_mb=2) as look:
        asyncio.run(look.look(NOW_MS))
        assert total_bytes(full) > 2 << 20
        removed = asyncio.run(look.look(NOW_MS))
    left = kinds(full)
    assert [path.name for path in full.backups.glob("*.db")] == ["observer-auto-2.db"]
    assert 0 < removed == READS - left.count("file-read")
    assert (left.count("command"), left.count("remember")) == (COMMANDS, 1)
    assert {"prompt", "commit"} <= set(left)
    assert total_bytes(full) < 2 << 20
    cap = size_cap.read(full)
    assert cap
    assert (cap.copies, cap.events) == (2, removed)
    said = size_cap.text(full, now_ms=cap.at_ms)
    assert said.startswith(f"{removed} events and 2 old files dropped")
    assert size_cap.text(full, now_ms=cap.at_ms + size_cap.REMEMBERED_MS) == ""


@pytest.mark.measured
def test_what_is_worth_most_stays_even_where_the_home_is_too_large(full: Home) -> None:
    with retaining(full, max_home_mb=1) as look:
        asyncio.run(look.look(NOW_MS))
        asyncio.run(look.look(NOW_MS))
    left = kinds(full)
    assert "file-read" not in left
    assert {"remember", "commit"} <= set(left)


def test_what_a_killed_daemon_had_not_finished_is_finished(full: Home) -> None:
    """It had taken the events out of the tables, but not out of copies and contexts."""
    rule = Retention(Settings(retention_days=10))
    with closing(SqliteStore(full.database)) as store:
        with store.read() as reader:
            gone = expired(reader, rule, now_ms=NOW_MS)
        anew = Rederivation(full, SqliteStore, store, gone)
        anew.derive()
        assert anew.adopt() == READS + COMMANDS + 2
    full.context.mkdir()
    (full.context / "CONTEXT.md").write_text("mend the cart")
    with retaining(full, retention_days=10) as look:
        assert asyncio.run(look.look(NOW_MS)) == 0
    held = [path.name for path in full.root.rglob("*") if path.is_file()]
    assert "CONTEXT.md" not in held
    assert all(b"mend the cart" not in legible(path) for path in full.backups.glob("*.db"))
    with closing(SqliteStore(full.database)) as store, store.read() as reader:
        assert not reader.meta(UNFINISHED)


def test_what_a_killed_daemon_derived_beside_is_deleted(home: Home) -> None:
    def look_once() -> None:
        with retaining(home) as look:
            asyncio.run(look.look(NOW_MS))

    for clear in (lambda: clear_derived(home), look_once):
        home.expiring.mkdir(parents=True)
        (home.expiring / "observer.db").write_bytes(b"secret of somebody")
        clear()
        assert not home.expiring.exists()


def test_a_home_without_a_limit_forgets_that_it_had_one(full: Home) -> None:
    size_cap.note(full, size_cap.Cap(limit_bytes=1, used_bytes=2))
    with retaining(full) as look:
        asyncio.run(look.look(NOW_MS))
    assert size_cap.text(full, now_ms=NOW_MS) == ""
    assert len(kinds(full)) == READS + COMMANDS + 3
