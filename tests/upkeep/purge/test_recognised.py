"""What was stored before it was recognised goes while the daemon is idle, from every byte."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.events import Command, Prompt
from observer.core.paths import Home
from observer.redaction.seen import SEEN
from observer.store.database import SqliteStore
from observer.upkeep import recognised
from tests.upkeep.purge.conftest import NOW_MS, holding, retaining

VALUE = "Xkdlqzptbwmrvc39"
BARE = Command(command="make", output=f"try {VALUE} again")
NAMED = Prompt(text=f"API_KEY={VALUE}")
OTHER = Prompt(text="mend the cart")


@pytest.fixture
def copied(home: Home) -> Home:
    """A home, with a copy, in which a value stands that was not known then."""
    with retaining(home, OTHER, BARE):
        pass
    home.backups.mkdir(exist_ok=True)
    with closing(SqliteStore(home.database)) as store:
        store.backup(home.backups / "observer-auto-1.db")
    assert holding(home, VALUE)
    return home


def test_it_goes_from_log_items_and_copies(copied: Home) -> None:
    with retaining(copied, OTHER, BARE, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
        assert worker.redacting == 0
    assert holding(copied, VALUE) == []
    with closing(SqliteStore(copied.database)) as store, store.read() as reader:
        assert reader.totals().events == 3
        assert not recognised.is_behind(reader)


def test_the_next_daemon_derives_what_a_killed_one_redacted(copied: Home) -> None:
    with retaining(copied, OTHER, BARE, NAMED), closing(SqliteStore(copied.database)) as store:
        recognised.redact_found(store, recognised.found(store))
    assert holding(copied, VALUE)
    with retaining(copied) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(copied, VALUE) == []


def test_without_news_nothing_is_searched(home: Home) -> None:
    with retaining(home, OTHER, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
        with closing(SqliteStore(home.database)) as store, store.read() as reader:
            assert not recognised.is_behind(reader)
            SEEN.learn(["Qw7Rt2Yu9Pl4Ks8Jd3"])
            assert recognised.is_behind(reader)


def test_the_name_of_a_project_goes_as_well(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "w" / VALUE
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    with retaining(home, OTHER, cwd=str(folder)):
        pass
    with retaining(home, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(home, VALUE) == []
