"""What was stored before it was recognised goes while the daemon is idle, from every byte."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from legible import legible

from observer.core.config import Settings
from observer.core.events import AnyBody, Command, Event, Prompt
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.redaction.seen import SEEN
from observer.serve.lazy_store import LazyStore
from observer.serve.maintenance import RetentionWorker
from observer.serve.worker import Health, WriterThread
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.upkeep import recognised
from observer.upkeep.home_guard import HomeGuard
from tests.support import pipeline_over

NOW_MS = 1_790_000_000_000
VALUE = "Xkdlqzptbwmrvc39"
BARE = Command(command="make", output=f"try {VALUE} again")
NAMED = Prompt(text=f"API_KEY={VALUE}")
OTHER = Prompt(text="mend the cart")


@contextmanager
def living(home: Home, *bodies: AnyBody, cwd: str = "") -> Iterator[RetentionWorker]:
    """Store events, and yield the worker of the daemon that stored them."""
    store = LazyStore(lambda: SqliteStore(home.database, backups=home.backups))
    spool, health = Spool(home.spool), Health()
    spool.prepare()
    pipeline = pipeline_over(store, spool, NOW_MS)
    events = [
        Event(id=f"e{n}", at_ms=NOW_MS - 9000 + n, client="c", session="s", cwd=cwd, body=body)
        for n, body in enumerate(bodies)
    ]
    for event in events:
        pipeline.ingest([event])
    writer = WriterThread(pipeline, HomeGuard(home), health)
    try:
        yield RetentionWorker(
            store,
            spool,
            writer,
            home,
            Settings(),
            tombstones=Tombstones(home.tombstones),
            health=health,
            on_change=lambda _projects: None,
        )
    finally:
        writer.close()
        store.close()


def holding(home: Home) -> list[str]:
    """Return the files in which the value stands."""
    files = (path for path in home.root.rglob("*") if path.is_file())
    return [path.name for path in files if VALUE.encode() in legible(path)]


@pytest.fixture
def copied(home: Home) -> Home:
    """A home, with a copy, in which a value stands that was not known then."""
    with living(home, OTHER, BARE):
        pass
    home.backups.mkdir(exist_ok=True)
    with closing(SqliteStore(home.database)) as store:
        store.backup(home.backups / "observer-auto-1.db")
    assert holding(home)
    return home


def test_it_goes_from_log_items_and_copies(copied: Home) -> None:
    with living(copied, OTHER, BARE, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
        assert worker.redacting == 0
    assert holding(copied) == []
    with closing(SqliteStore(copied.database)) as store, store.read() as reader:
        assert reader.totals().events == 3
        assert not recognised.is_behind(reader)


def test_the_next_daemon_derives_what_a_killed_one_redacted(copied: Home) -> None:
    with living(copied, OTHER, BARE, NAMED), closing(SqliteStore(copied.database)) as store:
        recognised.redact_found(store, recognised.found(store))
    assert holding(copied)
    with living(copied) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(copied) == []


def test_without_news_nothing_is_searched(home: Home) -> None:
    with living(home, OTHER, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
        with closing(SqliteStore(home.database)) as store, store.read() as reader:
            assert not recognised.is_behind(reader)
            SEEN.learn(["Qw7Rt2Yu9Pl4Ks8Jd3"])
            assert recognised.is_behind(reader)


def test_the_name_of_a_project_goes_as_well(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "w" / VALUE
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    with living(home, OTHER, cwd=str(folder)):
        pass
    with living(home, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(home) == []
