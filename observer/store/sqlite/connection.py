"""One connection to the database, told from every other that this process ever opened."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from observer.store.sqlite.pages import VFS

_numbers = count(1)


class Connection(apsw.Connection):
    """A connection with a number of its own, which no later one gets."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - as apsw takes them
        super().__init__(*arguments, **named)
        self.number = next(_numbers)


def is_passing(error: BaseException) -> bool:
    """Return True if the disk or the system refused once, whatever the content of the files."""
    return isinstance(error.__cause__, apsw.FullError | apsw.CantOpenError | apsw.IOError | OSError)


def verdict(copy: Path) -> str:
    """Return "ok", or what is wrong with a copy: that says nothing of what it is a copy of."""
    with closing(
        apsw.Connection(os.fspath(copy), flags=apsw.SQLITE_OPEN_READONLY, vfs=VFS)
    ) as written:
        try:
            return str(written.execute("PRAGMA integrity_check(1)").fetchall()[0][0])
        except (apsw.CorruptError, apsw.NotADBError) as error:
            return str(error)
