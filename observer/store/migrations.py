"""Numbered migrations: which exist, which a database still needs.

One never changes: `fingerprints.txt` has digests of its statements and of the schema that it makes,
which a test computes again. Each is one transaction.
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
    """A step to version `number`; `schema` is the fingerprint of what all until it make, or ""."""

    number: int
    name: str
    sql: str
    schema: str = ""


def migrations() -> list[Migration]:
    """Return all migrations, oldest first."""
    folder = files("observer.store").joinpath("sql", "sqlite")
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


def fingerprint(statements: Iterable[str]) -> str:
    """Return a digest of SQL, whatever its comments and spaces, 16 characters."""
    plain = "\n".join(re.sub(r"--[^\n]*|\s+", "", one) for one in statements)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def differs(version: int, schema: str, known: Sequence[Migration]) -> bool:
    """Return True if a schema is not what the steps up to its version make: by earlier ones."""
    made = next((step.schema for step in known if step.number == version), "")
    return bool(made) and made != schema


def needed(version: int, known: Sequence[Migration], *, where: str) -> list[Migration]:
    """Return the steps from `version` to the newest; raises StoreUnavailable for a later one."""
    newest = known[-1].number
    if version > newest:
        raise StoreUnavailable(
            f"{where} has schema version {version}, this observer knows {newest}",
            hint="upgrade observer; the database was left untouched",
        )
    return [step for step in known if step.number > version]
