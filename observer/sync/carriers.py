"""Which carrier a share's address means, and how it is made, joined and opened.

postgresql://host/database     a server
git@host:path, ssh://…, *.git  a git repository of its own
anything else                  a folder
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from observer.core.errors import ShareUnavailable
from observer.sync.record import Carrier

if TYPE_CHECKING:
    from observer.sync.folder import FolderCarrier

_EXTRAS = {"pyrage": "sync", "zstandard": "sync", "cryptography": "sync", "psycopg": "teams"}
"""Which extra brings a package."""


def open_carrier(url: str, home_folder: Path) -> Carrier:
    """Return what carries the records of a share, for the caller to close.

    Raises:
        ShareUnavailable: it is out of reach, is no share, this machine has no key to it, it has a
            later format than this program knows, or an extra is not installed.
    """
    with _extras():
        return open_files(url, home_folder)


def open_files(url: str, home_folder: Path) -> FolderCarrier:
    """Return the carrier of a share of files, which can also invite, remove and rotate.

    Raises:
        ShareUnavailable: as `open_carrier`.
    """
    with _extras():
        from observer.sync.folder import FolderCarrier  # noqa: PLC0415 - of an extra

        return FolderCarrier(Path(url).expanduser(), home_folder)


def create_share(url: str, home_folder: Path, *, person: str) -> FolderCarrier:
    """Found a share of files, with this machine as its first member.

    Raises:
        BadInput: something else lies there.
        ShareUnavailable: it cannot be written, or an extra is not installed.
    """
    with _extras():
        from observer.sync import keys  # noqa: PLC0415 - of an extra

        keys.create(Path(url).expanduser(), home_folder, person=person)
    return open_files(url, home_folder)


def join_share(url: str, home_folder: Path, code: str) -> FolderCarrier:
    """Make this machine a member of a share of files that it was invited to.

    Raises:
        BadInput: the code is of another share, or was used.
        ShareUnavailable: as `open_carrier`, or the invitation has not arrived.
    """
    with _extras():
        from observer.sync import keys  # noqa: PLC0415 - of an extra

        keys.join(Path(url).expanduser(), home_folder, code)
    return open_files(url, home_folder)


@contextmanager
def _extras() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").split(".")[0])
        if not extra:
            raise
        raise ShareUnavailable(
            f"a share of this kind needs the package {error.name}",
            hint=f"pip install 'observer-memory[{extra}]'",
        ) from error
