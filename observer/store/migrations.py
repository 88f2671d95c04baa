"""Numbered migrations: which exist, which a database still needs.

A released migration never changes. The engine runs each in one transaction, all after a backup.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from observer.core.errors import StoreUnavailable

UNFILLED = range(2, 8)
"""Steps that only make room: what belongs there is found by deriving items from the log anew."""


class Migration(NamedTuple):
    """One step of the schema; `number` is the version of a database that has it."""

    number: int
    name: str
    sql: str


def migrations(engine: str) -> list[Migration]:
    """Return the migrations of an engine (`sqlite`), oldest first."""
    folder = files("observer.store").joinpath("sql", engine)
    found = []
    for file in folder.iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, file.read_text(encoding="utf-8")))
    return sorted(found)


def needed(version: int, known: Sequence[Migration], *, where: str) -> list[Migration]:
    """Return the steps from `version` to the newest.

    Raises:
        StoreUnavailable: the database was written by a newer observer; it stays untouched.
    """
    newest = known[-1].number
    if version > newest:
        raise StoreUnavailable(
            f"{where} has schema version {version}, this observer knows {newest}",
            hint="upgrade observer; the database was left untouched",
        )
    return [step for step in known if step.number > version]
