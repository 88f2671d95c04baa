"""What an error of the engine means to a person, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from observer.errors import StoreDamaged, StoreUnavailable

DAMAGED = "mend it with: observer up; what is whole is kept, the rest comes from backups"
"""What to do about a damaged database."""

LET_GO = "let it end; what was begun is finished by: observer up"

_HINTS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "free some disk space, then repeat; what is in the spool waits there"),
    (apsw.ReadOnlyError, "make the folder and the database writable"),
    (apsw.PermissionsError, "make the folder and the database writable"),
    (apsw.CantOpenError, "check that the folder exists and is yours"),
    (apsw.BusyError, "another process holds the database; end it"),
)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise what the block raises of the engine as an error of ours.

    Raises:
        StoreDamaged: a page is not what was written.
        StoreUnavailable: anything else.
    """
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(f"{path}: {error or 'it is no database'}", hint=DAMAGED) from error
    except apsw.Error as error:
        hint = next(
            (text for kind, text in _HINTS if isinstance(error, kind)), "see: observer doctor"
        )
        raise StoreUnavailable(f"{path}: {error or type(error).__name__}", hint=hint) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: {error.strerror}", hint="check that the folder exists and is yours"
        ) from error
