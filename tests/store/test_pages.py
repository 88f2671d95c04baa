"""Changed bytes are noticed before they are believed; the write-ahead log is emptied and missed."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.events import Command, Event
from observer.core.model import UNASSIGNED, Recorded
from observer.store import pages
from observer.store.database import SqliteStore
from observer.store.migrations import migrations
from observer.store.rows import checksum

PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "observer.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path)) as store:
        yield store


def add(store: SqliteStore, *seqs: int) -> None:
    with store.write() as writer:
        for seq in seqs:
            body = Command(command="make", output=random.Random(seq).randbytes(2500).hex())
            event = Event(id=f"e{seq}", at_ms=seq, client="x", body=body)
            one = Recorded(seq=seq, event=event, project_id=UNASSIGNED, session_id=None)
            writer.append(one, stored_ms=1)


def seqs(path: Path) -> list[int]:
    with closing(SqliteStore(path, read_only=True)) as store, store.read() as reader:
        return [one.seq for one in reader.log()]


def flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 4]))


def test_a_flipped_bit_in_any_page_of_the_log_is_refused(store: SqliteStore, path: Path) -> None:
    add(store, *range(1, 9))
    store.close()
    assert seqs(path) == list(range(1, 9))
    whole = path.read_bytes()
    shown = []
    for number in range(len(whole) // PAGE):
        flip(path, number * PAGE + 2000)
        try:
            shown.append(seqs(path) == list(range(1, 9)))
        except StoreDamaged:
            shown.append(None)
        path.write_bytes(whole)
    assert None in shown
    assert False not in shown  # what is read is right


def spoil(path: Path) -> None:
    log = wal(path)
    for place in range(32 + 24 + 3000, log.stat().st_size, PAGE + 24):
        flip(log, place)


def test_a_flipped_bit_in_the_write_ahead_log_is_refused_in_use(
    store: SqliteStore, path: Path
) -> None:
    add(store, *range(1, 9))
    spoil(path)
    with pytest.raises(StoreDamaged), store.read() as reader:
        reader.log()


def test_another_process_proves_the_write_ahead_log_by_its_own_checksums(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, *range(1, 9))
    monkeypatch.setattr(pages._registered[0], "_marks", {})  # as it has none
    assert seqs(path) == list(range(1, 9))
    monkeypatch.setattr(pages._registered[0], "_marks", {})
    spoil(path)
    with pytest.raises(StoreDamaged):
        seqs(path)


@pytest.mark.parametrize("order", ["big", "little"])
def test_frames_are_summed_as_the_format_says(order: str) -> None:
    words = (1, 2, 3, 4)
    content = b"".join(word.to_bytes(4, order) for word in words)  # type: ignore[arg-type]  # one of the two
    sums = pages.frame_sums((5).to_bytes(4) + (6).to_bytes(4), content, order)
    first = 5 + 1 + 6
    second = 6 + 2 + first
    first += 3 + second
    assert sums == first.to_bytes(4) + (second + 4 + first).to_bytes(4)


def test_pages_and_rows_are_known_by_their_checksums() -> None:
    assert pages.is_whole(bytes(PAGE))  # never written
    assert not pages.is_whole(b"x" * PAGE)
    assert pages.is_whole(pages.sealed(b"x" * PAGE))
    assert checksum("ab", "c") != checksum("a", "bc")
    assert checksum(1, None) != checksum(None, 1)
    assert checksum("ä") == checksum("ä".encode())


def test_a_database_of_an_older_observer_gets_checksums(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as old:
        old.execute("PRAGMA journal_mode = WAL").fetchall()
        old.create_scalar_function("title_key", str, 1, deterministic=True)
        for step in migrations()[:8]:
            old.execute(step.sql)
        old.execute("PRAGMA application_id = 0x4F425356; PRAGMA user_version = 8").fetchall()
        old.execute(
            "INSERT INTO event VALUES (1, 'e1', '', 'command', 'x', 1, NULL, '', '', '', 1, 1, ?)",
            ('{"id":"e1","at_ms":1,"client":"x","body":{"kind":"command","command":"ls"}}',),
        )
    SqliteStore(path).close()
    held = path.read_bytes()
    assert all(pages.is_whole(held[at : at + PAGE]) for at in range(0, len(held), PAGE))
    assert seqs(path) == [1]
    assert path.stat().st_mode & 0o077 == 0


def test_a_copy_has_checksums_of_its_own_and_a_database_that_denies_any_is_damaged(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    add(store, 1, 2, 3)
    copy = tmp_path / "copy.db"
    store.backup(copy)
    store.close()
    flip(copy, 3 * PAGE + 50)
    with closing(SqliteStore(copy, read_only=True)) as opened:
        assert "page 4 was changed" in opened.check()
    flip(path, 20)
    with pytest.raises(StoreDamaged):
        SqliteStore(path)


def test_a_copy_larger_than_the_cache_has_them_in_every_page(
    store: SqliteStore, tmp_path: Path
) -> None:
    """SQLite writes pages of a new file before the first one, which says that it has checksums."""
    add(store, *range(1, 2_001))
    copy = tmp_path / "copy.db"
    store.backup(copy)
    held = copy.read_bytes()
    assert len(held) > 4 << 20
    assert all(pages.is_whole(held[at : at + PAGE]) for at in range(0, len(held), PAGE))


def test_a_copy_that_the_disk_damages_says_nothing_of_the_database(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, *range(1, 9))
    store.checkpoint()
    monkeypatch.setattr(pages, "sealed", lambda page: bytes(page)[::-1])
    with pytest.raises(StoreUnavailable, match="is damaged") as refused:
        store.backup(tmp_path / "copy.db")
    assert not isinstance(refused.value, StoreDamaged)
    assert list(tmp_path.glob("copy*")) == []


def wal(path: Path) -> Path:
    return path.with_name("observer.db-wal")


def add_each(store: SqliteStore, *seqs: int) -> None:
    """Add events, a transaction each."""
    for seq in seqs:
        add(store, seq)


def held(store: SqliteStore) -> list[int]:
    with store.read() as reader:
        return [one.seq for one in reader.log()]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_log_that_is_deleted_in_use_loses_nothing(
    store: SqliteStore, path: Path, *, is_replaced: bool
) -> None:
    add_each(store, 1, 2)
    assert held(store) == [1, 2]  # a reader is in the pool
    wal(path).rename(path.with_name("elsewhere"))
    if is_replaced:
        wal(path).write_bytes(b"another file")
        store.checkpoint()
    add_each(store, 3)
    assert (held(store), store.rescues) == ([1, 2, 3], 1)
    store.close()
    with closing(SqliteStore(path)) as again:
        assert (held(again), again.lost_events) == ([1, 2, 3], 0)


def test_what_was_lost_with_a_log_is_counted_at_the_next_start(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    add_each(store, 1)
    store.checkpoint()
    add_each(store, 2, 3)
    home = tmp_path / "elsewhere"
    home.mkdir()
    for name in ("observer.db", "observer.db-newest"):
        shutil.copy(path.with_name(name), home)
    with closing(SqliteStore(home / "observer.db")) as without:
        assert (held(without), without.lost_events) == ([1], 2)
        add_each(without, 2)
    with closing(SqliteStore(home / "observer.db")) as again:
        assert again.lost_events == 0


def test_a_mark_that_is_none_says_nothing_and_fails_no_commit(path: Path) -> None:
    mark = path.with_name("observer.db-newest")
    for content in (b"", b"odd"):
        mark.write_bytes(content)
        with closing(SqliteStore(path)) as store:
            assert store.lost_events == 0
    mark.unlink()
    mark.mkdir()
    with closing(SqliteStore(path)) as store:
        add_each(store, 1)
        assert held(store) == [1]


def test_a_backup_holds_what_is_only_in_the_log_or_says_that_it_cannot_be(
    store: SqliteStore, tmp_path: Path
) -> None:
    add_each(store, 1, 2)
    copy = tmp_path / "backups" / "copy.db"
    store.backup(copy)
    assert copy.stat().st_mode & 0o077 == 0
    with closing(SqliteStore(copy)) as restored:
        assert held(restored) == [1, 2]
    assert [entry.name for entry in copy.parent.iterdir() if "partial" in entry.name] == []
    (tmp_path / "copy.db.partial" / "x").mkdir(parents=True)
    with pytest.raises(StoreUnavailable):
        store.backup(tmp_path / "copy.db")


def test_a_log_that_readers_let_grow_is_emptied_when_they_are_done(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.store.database.MOST_BYTES", 200_000)
    monkeypatch.setattr("observer.store.database.READERS_MS", 1)
    with store.read() as reader:
        reader.totals()
        add_each(store, *range(1, 61))
        assert wal(path).stat().st_size > 400_000
    add_each(store, 61)
    assert wal(path).stat().st_size == 0
    add_each(store, 62)
    assert held(store) == [*range(1, 63)]
