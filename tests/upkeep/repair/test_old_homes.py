"""Homes of past commits and releases become today's: nothing of their logs is lost.

`scripts/old_homes.py` made them. Several have the number of a schema whose migrations were written
in other words later.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from observer.core.errors import SchemaDiffers, StoreUnavailable
from observer.core.paths import Home
from observer.store.connection import outline, reading, schema_of
from observer.store.database import SqliteStore, WriteAheadLog
from observer.store.migrations import migrations
from observer.store.pages import VFS
from observer.upkeep.bundle import restore
from observer.upkeep.carry_out import PurgeOrder, begin, carry_out
from observer.upkeep.losses import request_repair
from observer.upkeep.restore import has_damage, open_owned, repair_if_damaged

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
        assert schema_of(connection) == migrations("sqlite")[-1].schema


def packed_as(name: str) -> Path:
    return next(path for path in HOMES if path.name.startswith(name))


@pytest.mark.parametrize("name", sorted(EDITED))
def test_what_an_earlier_state_of_a_migration_made_is_kept_beside(home: Home, name: str) -> None:
    put(home, packed_as(name))
    open_owned(home.database, home.backups).close()
    (copy,) = home.backups.iterdir()
    assert outline(copy) == outline(home.database)._replace(items=outline(copy).items)


def test_a_schema_of_its_number_is_only_migrated(home: Home) -> None:
    put(home, packed_as("v14"))
    open_owned(home.database, home.backups).close()
    (copy,) = home.backups.iterdir()
    assert "-v14-" in copy.name


def test_what_no_event_says_is_taken_over(home: Home) -> None:
    put(home, packed_as("v09-549d4208"))
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("INSERT INTO meta VALUES ('tombstones', '3')")
    with closing(open_owned(home.database, home.backups)) as store, store.read() as reader:
        assert reader.meta("tombstones") == "3"


def test_no_number_of_a_purged_event_is_given_again(home: Home) -> None:
    put(home, packed_as("v09-549d4208"))
    with closing(apsw.Connection(str(home.database), vfs=VFS)) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'event'")
    open_owned(home.database, home.backups).close()
    assert outline(home.database).last_seq == 70


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
