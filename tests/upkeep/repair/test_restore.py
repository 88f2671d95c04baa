"""A damaged or old database: what is whole is kept, backups give the rest, losses are shown."""

from __future__ import annotations

import lzma
import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from observer.core.errors import SchemaDiffers, StoreUnavailable
from observer.core.events import Command, Event
from observer.core.model import Project, Recorded
from observer.core.paths import Home
from observer.store.connection import outline, reading, schema_of
from observer.store.database import SqliteStore, WriteAheadLog
from observer.store.migrations import migrations
from observer.store.pages import VFS, damaged_pages, salvaged
from observer.upkeep.bundle import restore
from observer.upkeep.carry_out import PurgeOrder, begin, carry_out
from observer.upkeep.losses import losses, recent, request_repair
from observer.upkeep.restore import has_damage, open_owned, repair_if_damaged

PAGE = 4096
CODE = Project(id=2, uuid="u2", name="code", roots=("/code",), created_ms=1)


@pytest.fixture
def filled(home: Home) -> Home:
    with closing(store(home)) as opened:
        add(opened, range(1, 41))
    return home


def store(home: Home) -> SqliteStore:
    return SqliteStore(home.database, backups=home.backups)


def add(opened: SqliteStore, seqs: range) -> None:
    with opened.write() as writer:
        writer.put_project(CODE)
        for seq in seqs:
            body = Command(command=f"make part-{seq}", output=text(seq))
            event = Event(id=f"e{seq}", at_ms=seq * 60_000, client="x", cwd="/code", body=body)
            one = Recorded(seq=seq, event=event, project_id=2, session_id=None, root="/code")
            writer.append(one, stored_ms=1)


def text(seq: int) -> str:
    return random.Random(seq).randbytes(random.Random(seq).choice([20, 900, 4000])).hex()


def mend(home: Home) -> object:
    return repair_if_damaged(home, now_ms=lambda: 5_000_000)


def damage(path: Path, *pages: int) -> None:
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * PAGE : page * PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)


def known(home: Home) -> dict[int, str]:
    with closing(store(home)) as opened, opened.read() as reader:
        assert opened.check() == "ok"
        return {one.seq: one.event.body.output for one in reader.log()}  # type: ignore[union-attr]  # commands


def test_a_whole_database_and_one_of_a_newer_observer_are_left_alone(filled: Home) -> None:
    before = filled.database.read_bytes()
    assert mend(filled) is None
    assert filled.database.read_bytes() == before
    assert losses(filled) == []

    with closing(store(filled)) as opened, opened._alone() as writer:
        writer.execute("PRAGMA user_version = 9999").fetchall()
    before = filled.database.read_bytes()
    request_repair(filled, "an older observer could not read it")
    assert mend(filled) is None
    with pytest.raises(StoreUnavailable, match="this observer knows"):
        store(filled)
    assert filled.database.read_bytes() == before


def test_a_damaged_page_costs_no_event_that_is_whole(filled: Home) -> None:
    held = {row.key for row in salvaged(filled.database) if row.table == "event"}
    assert held == set(range(1, 41))
    total = filled.database.stat().st_size // PAGE
    damage(filled.database, *range(total // 2, total))
    damaged = filled.database.read_bytes()
    whole = {row.key for row in salvaged(filled.database) if row.table == "event"}
    assert whole
    assert whole != held
    request_repair(filled, "found in quiet")
    loss = mend(filled)
    assert {seq: text(seq) for seq in whole} == known(filled)
    assert losses(filled) == [loss]
    (shown,) = losses(filled)
    assert (shown.kept, shown.restored, shown.lost) == (len(whole), 0, 40 - len(whole))
    (aside,) = shown.aside
    assert (filled.backups / aside).read_bytes() == damaged
    assert damaged_pages(filled.backups / aside) == [*range(total // 2, total)]
    assert not filled.damage.exists()


def test_what_is_lost_is_shown_with_its_time(filled: Home) -> None:
    whole = filled.database.read_bytes()
    filled.database.write_bytes(whole.replace(b"e3commandx", b"E3commandx"))
    request_repair(filled, "a page was changed")
    mend(filled)
    (loss,) = losses(filled)
    assert (loss.reason, loss.lost) == ("a page was changed", 1)
    assert (loss.from_ms, loss.until_ms) == (2 * 60_000, 4 * 60_000)
    assert "1 lost, of after 1970-01-01 00:02 UTC and before 1970-01-01 00:04 UTC" in str(loss)
    assert recent(filled, now_ms=5_000_001) == loss
    assert recent(filled, now_ms=5_000_000 + 8 * 86_400_000) is None


def test_backups_give_what_is_not_whole(filled: Home) -> None:
    with closing(store(filled)) as opened:
        opened.backup(filled.backups / "observer-copy.db")
        add(opened, range(41, 51))
    damage(filled.database, *range(2, filled.database.stat().st_size // PAGE))
    mend(filled)
    (loss,) = losses(filled)
    assert loss.restored > 0
    assert loss.kept + loss.restored + loss.lost == 50
    assert set(range(1, 41)) <= set(known(filled))


def test_a_removed_database_comes_from_backups(filled: Home) -> None:
    with closing(store(filled)) as opened:
        opened.backup(filled.backups / "observer-copy.db")
        add(opened, range(41, 43))
    filled.database.unlink()
    mend(filled)
    (loss,) = losses(filled)
    assert (loss.kept, loss.restored, loss.lost) == (0, 40, 2)
    assert "40 events" not in loss.reason
    assert set(known(filled)) == set(range(1, 41))
    assert mend(filled) is None
    with closing(store(filled)) as opened, opened.write() as writer:
        assert writer.next_seq() == 43  # no number is used again


def test_a_damaged_log_is_read_behind_its_damage(filled: Home, tmp_path: Path) -> None:
    with closing(store(filled)) as opened:
        add(opened, range(41, 46))
        add(opened, range(46, 51))
        held = [path for path in filled.root.iterdir() if path.name.startswith("observer.db")]
        left = {path: path.read_bytes() for path in held if not path.name.endswith("shm")}
    for path in filled.root.glob("observer.db*"):
        path.unlink()
    for path, content in left.items():
        path.write_bytes(content)
    log = filled.database.with_name("observer.db-wal")
    content = bytearray(log.read_bytes())
    content[32 + 30] ^= 1
    log.write_bytes(content)
    mend(filled)
    (loss,) = losses(filled)
    assert (loss.kept, loss.lost) == (50, 0)
    assert set(known(filled)) == set(range(1, 51))


def test_a_project_of_which_only_events_are_left_has_their_folder_and_what_none_tells_is_kept(
    filled: Home,
) -> None:
    with closing(store(filled)) as opened, opened.write() as writer:
        writer.spend("2026-11-22", tokens=7, requests=1)
        writer.choose("given", 5, "hide")
    whole = filled.database.read_bytes()
    filled.database.write_bytes(whole.replace(b'["/code"]', b'["/cXde"]'))
    request_repair(filled, "x")
    mend(filled)
    with closing(store(filled)) as opened, opened.read() as reader:
        (_, project) = reader.projects()
        assert reader.spending("2026-11-22").tokens == 7
        assert reader.chosen("given") == {5: "hide"}
    assert (project.id, project.name, project.roots) == (2, "code", ("/code",))


def test_a_damaged_backup_gives_what_is_whole_of_it(filled: Home) -> None:
    copy = filled.backups / "observer-copy.db"
    with closing(store(filled)) as opened:
        opened.backup(copy)
    damage(copy, 1)
    filled.database.write_bytes(b"no database at all")
    mend(filled)
    assert set(known(filled)) == set(range(1, 41))


def test_losses_that_cannot_be_read_are_none(home: Home) -> None:
    home.root.mkdir(parents=True)
    for content in (b"", b"{", b"[1]"):
        home.losses.write_bytes(content)
        assert losses(home) == []


def test_a_killed_mending_begins_anew(filled: Home) -> None:
    filled.database.with_name("observer.db.mending").write_bytes(b"half")
    aside = filled.backups / "observer-damaged-20260101T000000Z.db"
    filled.backups.mkdir()
    filled.database.replace(aside)
    mend(filled)
    assert set(known(filled)) == set(range(1, 41))


def test_an_older_copy_in_place_of_the_database_is_no_damage_and_what_it_loses_is(
    filled: Home,
) -> None:
    copy = filled.root / "copy.db"
    with closing(store(filled)) as opened:
        opened.backup(copy)
        add(opened, range(41, 51))
    copy.replace(filled.database)
    with closing(SqliteStore(filled.database, read_only=True)) as looked:
        assert looked.lost_events == 0
    assert mend(filled) is None
    assert recent(filled, now_ms=5_000_000) is None
    with closing(store(filled)) as opened:
        assert opened.lost_events == 0
        add(opened, range(41, 43))
    with closing(store(filled)) as again:
        assert again.lost_events == 0
        with again.read() as reader:
            assert reader.totals().events == 42
        again.checkpoint()
        older = filled.database.read_bytes()
        add(again, range(43, 46))
    filled.database.write_bytes(older)
    with closing(store(filled)) as opened:
        assert opened.lost_events == 3


HOMES = sorted((Path(__file__).parents[2] / "data/homes").glob("*.db.xz"))
EDITED = {"v01-b386ca37", "v02-850fcf3d", "v05-5658d45e", "v08-c73f2e50", "v09-549d4208"}
NOTE = "Totals of invoices are rounded once, at the end."


def put(home: Home, packed: Path) -> int:
    """Give a home the database of a past commit; return how many events it has."""
    home.root.mkdir(parents=True)
    home.database.write_bytes(lzma.decompress(packed.read_bytes()))
    return outline(home.database).events


@pytest.mark.parametrize("packed", HOMES, ids=lambda path: path.name.partition(".")[0])
def test_a_home_of_a_past_commit_is_upgraded(home: Home, packed: Path) -> None:
    before = put(home, packed)
    assert repair_if_damaged(home, now_ms=lambda: 1) is None
    with closing(open_owned(home.database, home.backups)) as store, store.read() as reader:
        assert len(reader.log()) == before
        assert NOTE in [one.title for one in reader.all_items()]
        reader.integrity()
    with closing(reading(home.database)) as connection:
        assert schema_of(connection) == migrations()[-1].schema


def packed_as(name: str) -> Path:
    return next(path for path in HOMES if path.name.startswith(name))


@pytest.mark.parametrize("name", [*sorted(EDITED), "v14"])
def test_what_an_earlier_state_of_a_migration_made_is_kept_beside(home: Home, name: str) -> None:
    put(home, packed_as(name))
    open_owned(home.database, home.backups).close()
    (copy,) = home.backups.iterdir()
    assert outline(copy) == outline(home.database)._replace(items=outline(copy).items)
    assert ("-v14-" in copy.name) is (name == "v14"), "one of its number is only migrated"


def test_what_no_event_says_is_taken_over(home: Home) -> None:
    put(home, packed_as("v09-549d4208"))
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("INSERT INTO meta VALUES ('tombstones', '3')")
        connection.execute("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'event'")
    with closing(open_owned(home.database, home.backups)) as store, store.read() as reader:
        assert reader.meta("tombstones") == "3"
    assert outline(home.database).last_seq == 70  # of a purged event


def test_a_remaking_that_is_ended_leaves_what_was_there(home: Home) -> None:
    @contextmanager
    def ending(_name: str, total: int) -> Iterator[Callable[[int], object]]:
        assert total == before
        yield ended

    def ended(_count: int) -> None:
        raise KeyboardInterrupt

    before = put(home, packed_as("v08"))
    with pytest.raises(KeyboardInterrupt):
        open_owned(home.database, home.backups, progress=ending)
    assert outline(home.database).events == before
    assert [path.name for path in home.root.rglob("*.db*")] == ["observer.db"]


def test_pages_without_checksums_are_no_damage(home: Home) -> None:
    before = put(home, packed_as("v08"))
    assert not has_damage(home)
    request_repair(home, "an earlier observer took them for damaged")
    loss = repair_if_damaged(home, now_ms=lambda: 1)
    assert loss
    assert (loss.kept, loss.lost) == (before, 0)


def test_events_that_are_missing_in_another_schema_are_looked_for_page_by_page(home: Home) -> None:
    before = put(home, packed_as("v09-549d4208"))
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("CREATE TABLE another (id)")
    WriteAheadLog(home.database).note(before + 2, before + 2)
    loss = repair_if_damaged(home, now_ms=lambda: 1)
    assert loss
    assert (loss.kept, loss.lost) == (before, 2)


def test_a_copy_of_another_schema_in_place_of_the_database_has_lost_nothing(home: Home) -> None:
    before = put(home, packed_as("v09-549d4208"))
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("VACUUM INTO ?", (str(home.root / "copy.db"),))
    (home.root / "copy.db").replace(home.database)
    WriteAheadLog(home.database).note(before + 2, before + 2)
    assert repair_if_damaged(home, now_ms=lambda: 1) is None
    assert outline(home.database).events == before


def test_who_only_reads_another_schema_is_told_what_to_do(home: Home) -> None:
    put(home, packed_as("v09-549d4208"))
    with pytest.raises(SchemaDiffers, match="observer down && observer up"):
        SqliteStore(home.database, read_only=True)


def test_what_is_no_database_has_no_outline(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 100)
    with pytest.raises(StoreUnavailable):
        outline(tmp_path / "x.db")


def test_a_home_that_was_migrated_past_missing_tables_is_made_anew(home: Home) -> None:
    SqliteStore(home.database).close()
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("DROP TABLE validity; DROP TABLE anchor_set; DROP TABLE anchor_path")
    with closing(open_owned(home.database, home.backups)) as store, store.read() as reader:
        assert reader.totals().events == 0
    with closing(reading(home.database)) as connection:
        assert connection.table_exists("main", "validity")


def test_a_copy_of_another_schema_is_restored(home: Home, tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes(lzma.decompress(packed_as("v08").read_bytes()))
    home.root.mkdir()
    done = restore(home, tmp_path / "old.db", replaces=False, stamp="now")
    assert done.manifest.events == outline(tmp_path / "old.db").events
    assert has_damage(home) is False


def test_a_purge_reaches_copies_of_another_schema(home: Home) -> None:
    before = put(home, packed_as("v09-549d4208"))
    open_owned(home.database, home.backups).close()
    order = PurgeOrder(seqs=(1,))
    begin(home, order)
    became = carry_out(home, order, open_owned).backups
    (copy,) = home.backups.iterdir()
    assert became == {copy.name: "rewritten, 1 events fewer"}
    assert outline(copy).events == before - 1
