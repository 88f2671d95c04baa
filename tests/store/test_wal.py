"""The write-ahead log: emptied in quiet, saved when deleted in use, missed when it is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.errors import StoreUnavailable
from observer.core.events import Command, Event
from observer.core.model import UNASSIGNED, Recorded
from observer.store.database import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "observer.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path)) as store:
        yield store


def wal(path: Path) -> Path:
    return path.with_name("observer.db-wal")


def add(store: SqliteStore, *seqs: int) -> None:
    for seq in seqs:
        event = Event(id=f"e{seq}", at_ms=seq, client="x", body=Command(command="ls"))
        one = Recorded(seq=seq, event=event, project_id=UNASSIGNED, session_id=None)
        with store.write() as writer:
            writer.append(one, stored_ms=1)


def seqs(store: SqliteStore) -> list[int]:
    with store.read() as reader:
        return [one.seq for one in reader.log()]


def copied(path: Path, folder: Path) -> list[int]:
    """What a copy of the database file alone holds."""
    folder.mkdir()
    shutil.copy(path, folder)
    with closing(SqliteStore(folder / path.name)) as store:
        return seqs(store)


def test_a_copy_of_the_file_holds_what_was_checkpointed(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    add(store, 1, 2)
    store.checkpoint()
    assert copied(path, tmp_path / "copy") == [1, 2]


def test_a_log_that_is_deleted_in_use_loses_nothing(store: SqliteStore, path: Path) -> None:
    add(store, 1, 2)
    assert seqs(store) == [1, 2]  # a reader is in the pool
    wal(path).unlink()
    add(store, 3)
    assert (seqs(store), store.rescues) == ([1, 2, 3], 1)
    store.close()
    with closing(SqliteStore(path)) as again:
        assert (seqs(again), again.lost_events) == ([1, 2, 3], 0)


def test_a_log_that_is_replaced_in_use_loses_nothing(store: SqliteStore, path: Path) -> None:
    add(store, 1)
    wal(path).rename(path.with_name("elsewhere"))
    wal(path).write_bytes(b"another file")
    store.checkpoint()
    add(store, 2)
    store.close()
    with closing(SqliteStore(path)) as again:
        assert seqs(again) == [1, 2]


def test_what_was_lost_with_a_log_is_counted_at_the_next_start(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    add(store, 1)
    store.checkpoint()
    add(store, 2, 3)
    home = tmp_path / "elsewhere"
    home.mkdir()
    for name in ("observer.db", "observer.db-newest"):
        shutil.copy(path.with_name(name), home)
    with closing(SqliteStore(home / "observer.db")) as without:
        assert (seqs(without), without.lost_events) == ([1], 2)
        add(without, 2)
    with closing(SqliteStore(home / "observer.db")) as again:
        assert again.lost_events == 0


@pytest.mark.parametrize("content", [b"", b"odd"])
def test_a_mark_that_is_none_says_nothing(path: Path, content: bytes) -> None:
    path.with_name("observer.db-newest").write_bytes(content)
    with closing(SqliteStore(path)) as store:
        assert store.lost_events == 0


def test_a_mark_that_cannot_be_written_fails_no_commit(store: SqliteStore, path: Path) -> None:
    path.with_name("observer.db-newest").mkdir()
    add(store, 1)
    assert seqs(store) == [1]


def test_a_backup_holds_what_is_only_in_the_log(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    add(store, 1, 2)
    copy = tmp_path / "backups" / "copy.db"
    store.backup(copy)
    assert copy.stat().st_mode & 0o077 == 0
    with closing(SqliteStore(copy)) as restored:
        assert seqs(restored) == [1, 2]
    assert [entry.name for entry in copy.parent.iterdir() if "partial" in entry.name] == []


def test_a_backup_that_cannot_be_written_says_so(store: SqliteStore, tmp_path: Path) -> None:
    blocked = tmp_path / "copy.db.partial"
    blocked.mkdir()
    (blocked / "x").touch()
    with pytest.raises(StoreUnavailable):
        store.backup(tmp_path / "copy.db")


def test_a_log_that_readers_let_grow_is_emptied_when_they_are_done(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.store.database.MOST_BYTES", 200_000)
    monkeypatch.setattr("observer.store.database.READERS_MS", 1)
    with store.read() as reader:
        reader.totals()
        add(store, *range(1, 61))
        assert wal(path).stat().st_size > 400_000
    add(store, 61)
    assert wal(path).stat().st_size == 0
    add(store, 62)
    assert seqs(store) == [*range(1, 63)]
