"""A migration that exists never changes, and each leaves the schema that a database is held to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from observer.store.connection import reading, schema_of
from observer.store.database import SqliteStore
from observer.store.migrations import Migration, fingerprint, migrations

LINES = Path(__file__).parents[2] / "observer/store/sql/sqlite/fingerprints.txt"


def lines(folder: Path) -> Iterator[str]:
    """Yield for each migration the line that it must have: name, statements, schema after it."""
    unproven = [[Migration(step.number, step.name, step.sql)] for step in migrations()]
    for steps in accumulate(unproven):
        last, path = steps[-1], folder / f"{len(steps)}.db"
        SqliteStore(path, steps=steps).close()
        with closing(reading(path)) as connection:
            schema = schema_of(connection)
        yield f"{last.number:04}_{last.name} {fingerprint([last.sql])} {schema}\n"


def test_no_migration_changed_and_a_new_one_has_its_line(tmp_path: Path) -> None:
    assert "".join(lines(tmp_path)) == LINES.read_text(encoding="ascii")


def test_comments_and_spaces_are_no_part_of_a_schema() -> None:
    assert fingerprint(["CREATE TABLE a (b)"]) == fingerprint(["CREATE  TABLE a (\n b -- what\n)"])
