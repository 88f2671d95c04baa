"""Databases of other programs are read whatever their state, and never written."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from observer.importers.database import CELL_BYTES, opened
from observer.importers.source import Problems


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "it's 100%.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text, size REAL)")
        connection.execute("INSERT INTO note VALUES (1, 'first', 0.5), (2, 'second', NULL)")
        connection.commit()
    return path


def rows(path: Path, table: str = "note", problems: Problems | None = None) -> list[str]:
    with opened(path, problems or Problems()) as database:
        return [row["text"] for row in database.rows(table)] if database else []


def listing(path: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in path.parent.glob(f"{path.name}*")}


def test_rows_are_read_by_their_columns_without_a_file_beside_them(path: Path) -> None:
    before = listing(path)
    with opened(path, Problems()) as database:
        assert database
        assert next(database.rows("note")) == {"id": 1, "text": "first", "size": 0.5}
        assert list(database.rows("unheard of")) == []
    assert rows(path) == ["first", "second"]
    assert listing(path) == before


def test_a_database_in_use_is_read_as_it_is_and_left_alone(path: Path) -> None:
    """What waits in the log of its writer counts; a lock does not matter."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("INSERT INTO note VALUES (3, 'third', 1)")
        writer.execute("BEGIN EXCLUSIVE")
        before = listing(path)
        assert rows(path) == ["first", "second", "third"]
        assert listing(path) == before


def test_a_database_in_use_is_copied_once_while_it_stays_as_it_is(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each session of it opens it; the copy has no name, so that a kill leaves none behind."""
    (copies := tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("INSERT INTO note VALUES (3, 'third', 1)")
        assert rows(path) == ["first", "second", "third"]
        assert list(copies.iterdir()) == []
        copies.rmdir()
        assert rows(path) == ["first", "second", "third"]
        copies.mkdir()
        writer.execute("INSERT INTO note VALUES (4, 'fourth', 1)")
        assert rows(path) == ["first", "second", "third", "fourth"]


def test_no_program_beside_the_data_runs_or_keeps_it_shut(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW trap AS SELECT load_extension('x') AS text")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    assert rows(path, "trap") == rows(path, "words") == []
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("UPDATE note SET text = '{}'")
        writer.execute("CREATE INDEX by_role ON note (json_extract(text, '$.role'))")
    assert rows(path) == ["{}", "{}"]


def test_a_value_beyond_measure_costs_its_row(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE note SET text = zeroblob({CELL_BYTES + 1}) WHERE id = 1")
        connection.execute("UPDATE note SET text = CAST(x'6fff6b' AS TEXT) WHERE id = 2")
        connection.commit()
    problems = Problems()
    assert rows(path, problems=problems) == ["o\ufffdk"]
    ((reason, count),) = problems.counts.items()
    assert (reason.startswith("unreadable row of note"), count) == (True, 1)
    assert problems.places[reason] == f"{path}:1"


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b"not a database, by any means"), id="text"),
        pytest.param(lambda path: os.truncate(path, 5000), id="cut off"),
        pytest.param(lambda path: (path.unlink(), os.mkfifo(path)), id="pipe"),
        pytest.param(lambda path: path.unlink(), id="gone"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="folder"),
    ],
)
def test_what_is_no_database_is_counted(path: Path, spoil: object) -> None:
    assert callable(spoil)
    spoil(path)
    problems = Problems()
    assert rows(path, problems=problems) == []
    assert sum(problems.counts.values()) == 1
