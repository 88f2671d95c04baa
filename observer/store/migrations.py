"""Numbered migrations: which exist, which a database still needs.

A migration never changes: `fingerprints.txt` beside them has a line for each, with digests of its
statements and of the schema of a database that has it, which a test computes again. The engine runs
each in one transaction, all after a backup.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from observer.core.errors import StoreUnavailable

UNFILLED = range(2, 8)
"""Steps that only make room: what belongs there is found by deriving items from the log anew."""
PACKED = 18
"""From this step on each leaves much of the file unused."""


class Migration(NamedTuple):
    """One step of the schema; `number` is the version of a database that has it.

    `schema` is the fingerprint of a database that has this one and all before, "" if it is unknown.
    """

    number: int
    name: str
    sql: str
    schema: str = ""


def migrations(engine: str) -> list[Migration]:
    """Return the migrations of an engine (`sqlite`), oldest first."""
    folder = files("observer.store").joinpath("sql", engine)
    listed = folder.joinpath("fingerprints.txt").read_text(encoding="ascii").splitlines()
    schemas = {name: schema for name, _, schema in map(str.split, listed)}
    found = []
    for file in folder.iterdir():
        stem, _, ending = file.name.partition(".")
        number, _, name = stem.partition("_")
        if ending == "sql":
            text = file.read_text(encoding="utf-8")
            found.append(Migration(int(number), name, text, schemas.get(stem, "")))
    return sorted(found)


_BLANK = re.compile(r"--[^\n]*|\s+")


def fingerprint(statements: Iterable[str]) -> str:
    """Return a digest of SQL, whatever its comments and spaces, 16 characters."""
    plain = "\n".join(_BLANK.sub("", one) for one in statements)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def differs(version: int, schema: str, known: Sequence[Migration]) -> bool:
    """Return True if the schema of a database is not what the steps up to its version make.

    Its number alone does not say so: an earlier state of a step may have made it.
    """
    made = next((step.schema for step in known if step.number == version), "")
    return bool(made) and made != schema


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
