"""One connection to the database, told from every other that this process ever opened."""

from __future__ import annotations

from itertools import count
from typing import Any

import apsw

_numbers = count(1)


class Connection(apsw.Connection):
    """A connection with a number of its own, which no later one gets."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - as apsw takes them
        super().__init__(*arguments, **named)
        self.number = next(_numbers)


def is_passing(error: BaseException) -> bool:
    """Return True if the disk or the system refused once, whatever the content of the files."""
    return isinstance(error.__cause__, apsw.FullError | apsw.CantOpenError | apsw.IOError | OSError)
