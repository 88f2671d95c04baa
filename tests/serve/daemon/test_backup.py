"""The copies that a daemon makes of its database, and which of them it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Command, Event
from observer.core.model import UNASSIGNED, Recorded
from observer.core.paths import Home
from observer.serve import maintenance as module
from observer.serve.maintenance import BackupWorker, copies, kept, made_ms
from observer.store.database import SqliteStore
from tests.serve.services import services_over

HOUR, DAY = 3_600_000, 86_400_000
NOW = 20_000 * DAY + 12 * HOUR


@pytest.fixture
def store(home: Home) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        yield store


def add(store: SqliteStore, seq: int) -> None:
    event = Event(id=f"e{seq}", at_ms=seq, client="x", body=Command(command="ls"))
    one = Recorded(seq=seq, event=event, project_id=UNASSIGNED, session_id=None)
    with store.write() as writer:
        writer.append(one, stored_ms=1)


def copier(store: SqliteStore, home: Home, *, hours: int = 24, percent: int = 50) -> BackupWorker:
    settings = Settings(backup_hours=hours, backup_disk_percent=percent)
    return BackupWorker(services_over(home, store, settings=settings))


def test_a_copy_is_made_when_it_is_due_and_something_was_stored(
    store: SqliteStore, home: Home
) -> None:
    made = copier(store, home)
    assert made.copy(NOW) is None  # nothing is stored
    add(store, 1)
    first = made.copy(NOW)
    assert first
    assert made_ms(first) == NOW
    add(store, 2)
    assert made.copy(NOW + 23 * HOUR) is None
    second = made.copy(NOW + 24 * HOUR)
    assert second
    assert made.copy(NOW + 48 * HOUR) is None  # nothing was stored
    assert copies(home) == [first, second]
    with closing(SqliteStore(second, read_only=True)) as opened, opened.read() as reader:
        assert [one.seq for one in reader.log()] == [1, 2]


def test_none_is_made_where_they_are_turned_off_or_the_disk_is_low(
    store: SqliteStore, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, 1)
    assert copier(store, home, hours=0).copy(NOW) is None
    monkeypatch.setattr(module, "LOW_DISK_BYTES", 1 << 60)
    assert copier(store, home).copy(NOW) is None
    assert copies(home) == []


def test_where_all_are_too_large_the_newest_stays_and_what_others_made(
    store: SqliteStore, home: Home
) -> None:
    home.backups.mkdir()
    for name in ("observer-v8-20200101T000000Z.db", "observer-20200101T000000Z.db", "mine.db"):
        (home.backups / name).touch()
    made = copier(store, home, percent=0)
    for day in range(3):
        add(store, day + 1)
        made.copy(NOW + day * DAY)
    (left,) = copies(home)
    assert made_ms(left) == NOW + 2 * DAY
    assert len(list(home.backups.iterdir())) == 4
    add(store, 4)
    assert made.copy(NOW)  # the clock was ahead, which ends no copying


def test_the_newest_of_each_day_and_week_is_kept() -> None:
    days = [NOW - day * DAY for day in range(60)]
    paths = sorted(Path(f"observer-auto-{stamp(at_ms)}-1.db") for at_ms in days)
    left = {(NOW - made_ms(path)) // DAY for path in kept(paths, NOW)}
    assert left >= set(range(7))
    assert len(left) in {9, 10}
    assert max(left) < 28


def stamp(at_ms: int) -> str:
    return module.time.strftime("%Y%m%dT%H%M%SZ", module.time.gmtime(at_ms / 1000))
