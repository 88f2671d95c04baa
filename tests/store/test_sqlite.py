"""What is SQLite's own: migrations, foreign files, read-only opening, failures, damage."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from observer.core.errors import StoreDamaged, StoreUnavailable
from observer.core.events import Command, Event
from observer.core.filters import Filters
from observer.core.model import UNASSIGNED, Item, Recorded, Session
from observer.store.connection import NumberedConnection
from observer.store.database import SqliteStore
from observer.store.migrations import PACKED, Migration, migrations
from observer.store.pages import VFS
from observer.store.purging import APPEND
from observer.store.reader import StoreReader
from observer.store.rows import EVENT_COLUMNS, checksum, marks, recorded_row

NEWEST = migrations()[-1].number
LATER = Migration(99, "later", "CREATE TABLE later (id INTEGER)")
BROKEN = Migration(100, "broken", "CREATE TABLE half (id INTEGER); SELECT nonsense")

SHOWN = Recorded(
    seq=1,
    event=Event(id="one", at_ms=1, client="x", body=Command(command="ls")),
    project_id=UNASSIGNED,
    session_id=None,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "observer.db"


@pytest.mark.parametrize("name", ["observer.db", "ob?server#1%20.db", "ümläut db"])
def test_the_database_is_private_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "state" / name
    SqliteStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_database_that_was_removed_does_not_come_back_empty(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        path.unlink()
        with pytest.raises(StoreUnavailable), store.read() as reader:
            reader.totals()
        assert not path.exists()


def test_at_rest_no_pages_are_kept_in_memory(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        with store.write() as writer:
            writer.append(SHOWN, stored_ms=1)
        with store.read() as reader, store.read() as other:
            before = (reader.totals(), other.totals())
        held = apsw.memory_used()
        store.rest()
        assert apsw.memory_used() < held
        with store.read() as reader:
            assert reader.totals() == before[0] == before[1]


def test_threads_that_open_it_at_once_leave_the_process_its_file_mode_mask(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(path).close()
    connect = NumberedConnection

    def slowly(*args: Any, **options: Any) -> apsw.Connection:
        time.sleep(0.001)
        return connect(*args, **options)

    monkeypatch.setattr("observer.store.database.NumberedConnection", slowly)
    before = os.umask(0o022)
    try:
        with ThreadPoolExecutor(8) as threads:
            for opened in threads.map(lambda _: SqliteStore(path, read_only=True), range(40)):
                opened.close()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_every_column_has_a_comment() -> None:
    everything = "".join(step.sql for step in migrations())
    for table in everything.split("CREATE TABLE")[1:]:
        columns = re.findall(r"^    [a-z]\w* .*", table.split("\n)")[0], re.MULTILINE)
        assert columns
        assert [column for column in columns if "--" not in column] == []


def test_a_migration_is_preceded_by_a_backup_and_refused_by_an_older_observer(path: Path) -> None:
    SqliteStore(path).close()
    assert not (path.parent / "backups").exists()  # of a fresh one
    left = path.parent / "backups" / "observer.partial"
    left.parent.mkdir()
    left.write_bytes(b"half of a database")  # of a backup that was killed
    with pytest.raises(StoreUnavailable, match="older observer") as refused:
        SqliteStore(path, read_only=True, steps=[*migrations(), LATER])
    assert refused.value.hint == "run: observer down && observer up"
    SqliteStore(path, steps=[*migrations(), LATER]).close()
    (copy,) = (path.parent / "backups").iterdir()
    assert copy.name.startswith(f"observer-v{NEWEST}-")
    with closing(apsw.Connection(os.fspath(copy))) as restored:
        assert restored.execute("PRAGMA user_version").fetchall() == [(NEWEST,)]
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match=f"version 99, this observer knows {NEWEST}"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_what_is_not_derived_is_restored_from_a_database_of_before_note_folders(
    path: Path, tmp_path: Path
) -> None:
    older = tmp_path / "older.db"
    with closing(SqliteStore(older)) as store, store.write() as writer:
        writer.spend("2026-11-24", tokens=7)
    with closing(apsw.Connection(os.fspath(older), vfs=VFS)) as old:
        old.execute(
            "DROP TABLE note_file; DROP TABLE note_claim; DROP TABLE note_relation;"
            " DROP TABLE note_alias"
        ).fetchall()
    with closing(SqliteStore(path)) as store, store.write() as writer:
        assert writer.restore_underived(older)
        assert writer.spending("2026-11-24").tokens == 7


@pytest.mark.parametrize(
    ("steps", "kept"), [([BROKEN], 0), ([LATER, BROKEN], 1)], ids=["nothing done", "a step done"]
)
def test_only_a_backup_of_what_was_changed_is_kept(
    path: Path, steps: list[Migration], kept: int
) -> None:
    SqliteStore(path).close()
    for _ in range(3):  # a daemon goes on trying
        with pytest.raises(StoreUnavailable, match="schema version 100: no such column"):
            SqliteStore(path, steps=[*migrations(), *steps])
    assert len(list((path.parent / "backups").iterdir())) == kept
    if not kept:
        with closing(SqliteStore(path)) as reopened:
            assert reopened.check() == "ok"


@pytest.mark.parametrize(
    ("version", "is_behind"), [(6, True), (7, False)], ids=["room alone", "filled by the step"]
)
def test_items_are_behind_until_what_a_migration_made_room_for_is_derived(
    path: Path, version: int, *, is_behind: bool
) -> None:
    before = SqliteStore(path, steps=migrations()[:version])
    with closing(before) as store, store.write() as writer:
        assert not writer.totals().is_behind
        row = (*recorded_row(SHOWN), 1)
        columns = ", ".join(EVENT_COLUMNS)
        writer._connection.execute(f"INSERT INTO event ({columns}) VALUES ({marks(13)})", row)
    with closing(SqliteStore(path)) as store, store.write() as writer:
        assert writer.totals().is_behind == is_behind
        writer.clear_projection()
        assert not writer.totals().is_behind


def test_events_of_an_older_observer_are_packed_but_for_damaged_ones(path: Path) -> None:
    older = SqliteStore(path, steps=migrations()[: PACKED - 1])
    with closing(older) as store, store.write() as writer:
        for seq, damage in ((1, 0), (2, 1)):
            row = (seq, f"e{seq}", *recorded_row(SHOWN)[2:], 1)
            writer._connection.execute(APPEND, (*row, checksum(*row) + damage))
    with closing(SqliteStore(path)) as store, store.read() as reader:
        assert [one.event for one in reader.log()] == [SHOWN.event]
        rows = reader._connection.execute("SELECT substr(data, 1, 1) FROM event").fetchall()
        assert rows == [(b"\x01",), ("{",)]
        assert "event 2 is damaged" in str(reader.damaged())


def test_long_texts_of_an_older_observer_are_packed(path: Path) -> None:
    long = "a long tale of a cart that was mended " * 20
    older = SqliteStore(path, steps=migrations()[:PACKED])
    with closing(older) as store, store.write() as writer:
        writer._connection.execute("ALTER TABLE item ADD COLUMN person DEFAULT ''")
        writer.put_items([Item(id=4, uuid="u", kind="note", type="fact", title="t")])
        writer._connection.execute("UPDATE item SET narrative = ?", (long,))
        writer._connection.execute("ALTER TABLE item DROP COLUMN person")
    with closing(SqliteStore(path)) as store, store.read() as reader:
        assert [one.narrative for one in reader.items([4])] == [long]
        ((held,),) = reader._connection.execute("SELECT narrative FROM item").fetchall()
        assert isinstance(held, bytes)


def test_what_is_no_database_of_ours_is_refused_and_untouched(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no memory"):
        SqliteStore(path, read_only=True)
    assert not path.exists()
    path.parent.mkdir()
    with closing(apsw.Connection(os.fspath(path))) as other:
        other.execute("CREATE TABLE theirs (id INTEGER)")
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="another program's"):
        SqliteStore(path)
    assert path.read_bytes() == before
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreUnavailable, match="not a database"):
        SqliteStore(path)


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "folder"])
def test_what_is_no_file_is_refused(
    path: Path, make: Callable[[Path], None], *, read_only: bool
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    with pytest.raises(StoreUnavailable, match="not a regular file"):
        SqliteStore(path, read_only=read_only)


def test_a_damaged_database_is_shown_from_others(path: Path) -> None:
    SqliteStore(path).close()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StoreDamaged, match="malformed") as refused:
        SqliteStore(path)
    assert refused.value.hint.startswith("repair it with: observer up")


def test_a_read_only_store_reads_beside_the_writer_and_refuses_to_write(path: Path) -> None:
    with closing(SqliteStore(path)), closing(SqliteStore(path, read_only=True)) as looker:
        with looker.read() as reader:
            assert reader.totals().events == 0
        with pytest.raises(StoreUnavailable, match="reading only"), looker.write():
            pass


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a file system")
def test_a_home_that_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "mnt"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=False).returncode:
        pytest.skip("mounting is not allowed here")
    path = folder / "h" / "observer.db"
    try:
        SqliteStore(path).close()
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        with closing(SqliteStore(path, read_only=True)) as looker, looker.read() as reader:
            assert reader.totals().events == 0
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_statement_is_prepared_once_whatever_is_bound(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str | None] = []

    def allow(_action: int, table: str | None, *_more: str | None) -> int:
        looked_up.append(table)
        return apsw.SQLITE_OK

    def watch(connection: apsw.Connection) -> None:
        connection.authorizer = allow  # asked only while a statement is prepared

    monkeypatch.setattr(apsw, "connection_hooks", [watch])
    with closing(SqliteStore(path)) as store, store.read() as reader:
        reader.session_called("one")
        assert "session" in looked_up
        looked_up.clear()
        reader.session_called("two")
        assert not looked_up


def test_a_locked_database_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("observer.store.database.BUSY_MS", 20)
    with closing(SqliteStore(path)) as store, closing(apsw.Connection(os.fspath(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another process holds"), store.write():
            pass


NOTES = Filters(kinds=("note",), owner="ana")
ROWS = r"\b(item|event|session)\b"
QUICK = "USING INDEX item_notable|SEARCH event USING INTEGER PRIMARY KEY|SEARCH session USING INDEX"
FILES = r"\bnote_file\b"
QUICK_FILES = (
    r"INTEGER PRIMARY KEY|\((path|permalink|title_key)=\?|\(folder=\? AND (path|checksum)=\?"
)
TEXTS, NO_TEXTS = r"\bitem\b(?! IN)", "INDEX item_frontmatter"


@pytest.mark.parametrize(
    ("of", "quick", "read"),
    [
        (ROWS, QUICK, lambda reader: reader.recent(NOTES, limit=5)),
        (ROWS, QUICK, lambda reader: reader.counts("type", NOTES)),
        (ROWS, QUICK, lambda reader: reader.counts(
            "tags", Filters(kinds=("note",), project_id=2, with_global=True))),
        (r"\bitem\b", "INDEX item_(summary|large)", lambda reader: reader.unenriched(limit=5)),
        (ROWS, QUICK, lambda reader: reader.sessions(project_id=2)),
        (ROWS, QUICK, lambda reader: reader.sessions(active=True)),
        (ROWS, QUICK, lambda reader: reader.children(
            Session(id=1, external="s", client="x", project_id=2), limit=5)),
        (FILES, QUICK_FILES, lambda reader: reader.note_files_like(
            "/notes", paths=["a.md"], checksums=["1"], permalinks=["a"])),
        (FILES, QUICK_FILES, lambda reader: reader.note_files_called("a")),
        (FILES, QUICK_FILES, lambda reader: reader.note_files_called("a", folder="/notes")),
        (FILES, QUICK_FILES, lambda reader: reader.note_file_at("/notes", "a.md")),
        (TEXTS, NO_TEXTS, lambda reader: reader.note_files("/notes")),
        (TEXTS, NO_TEXTS, lambda reader: reader.frontmatter_of([4])),
        # A session may record hundreds of events a second, and a backlog asks for each of them.
        ("", "event_session", lambda reader: reader.recorded_near(
            1, from_ms=1, to_ms=2, newest=9)),
        ("", "event_imported", lambda reader: reader.has_imported(1, from_ms=1, to_ms=2)),
        # A session's start asks for commits and fixes, of which a project may have none.
        ("", r"item_type \(project_id=\? AND type=\?", lambda reader: reader.ids(
            Filters(project_id=1, types=("commit",)), limit=9)),
        ("", "^(?!.*TEMP B-TREE)", lambda reader: reader.ids(
            Filters(project_id=1, types=("command", "file-write")), limit=9)),
        ("^SCAN|item_titled", "item_titled", lambda reader: reader.titled(
            "Queue", Filters(owner="ana"))),
    ],
)  # fmt: skip
def test_a_read_goes_by_an_index_and_not_through_all_rows(
    path: Path, of: str, quick: str, read: Callable[[StoreReader], object]
) -> None:
    steps = [step for step in plan_of(path, read) if re.search(of, step)]
    assert steps
    assert [step for step in steps if not re.search(quick, step)] == []


def plan_of(path: Path, read: Callable[[StoreReader], object]) -> list[str]:
    """Return how SQLite carries out the statements of a read, step by step."""
    asked: list[tuple[str, object]] = []

    def note(_: object, sql: str, values: object) -> bool:
        asked.append((sql, values))
        return True

    with closing(SqliteStore(path)) as store, store.read() as reader:
        connection = reader._connection
        connection.exec_trace = note
        read(reader)
        connection.exec_trace = None
        return [
            str(step[-1])
            for sql, values in asked
            for step in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)  # type: ignore[arg-type]  # as they were bound
        ]


def test_a_log_of_which_much_is_damaged_is_read_to_its_end_but_no_history(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        with store.write() as writer:
            for seq in range(1, 8):
                one = replace(SHOWN, seq=seq, event=replace(SHOWN.event, id=f"e{seq}"))
                writer.append(one, stored_ms=1, data="{" if seq < 6 else "")
            writer.put_history(16, 1)
            with pytest.raises(StoreUnavailable, match="event 1 is damaged"):
                writer.history(16)
        with store.read() as reader:
            assert [one.seq for one in reader.log(limit=2)] == [6]
            assert len(reader.damaged()) == 5
