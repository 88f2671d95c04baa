"""Which carrier a share's address means, and how it is made, joined and opened.

``postgresql://host/database`` is a server, ``git@host:path``, ``ssh://…`` and ``*.git`` a git
repository of its own, anything else a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from observer.core.errors import BadInput, ShareUnavailable
from observer.core.text import extra_hint

if TYPE_CHECKING:
    from observer.sync.folder import FolderCarrier
    from observer.sync.postgres import PostgresCarrier, ServerTeam
    from observer.sync.postgres_search import ServerSearch

Carrier: TypeAlias = "FolderCarrier | PostgresCarrier"
"""Where the records of a share lie. Each method may raise `ShareUnavailable`."""
_EXTRAS = {"pyrage": "sync", "zstandard": "sync", "cryptography": "sync", "psycopg": "teams"}
"""Which extra brings a package."""


def open_carrier(url: str, home_folder: Path) -> Carrier:
    """Return what carries the records of a share, for the caller to close.

    Raises: ShareUnavailable (out of reach, no share, no key, a later format, no extra).
    """
    return open_server(url) if is_server(url) else open_files(url, home_folder)


def open_server(url: str) -> PostgresCarrier:
    """Return the carrier of a share on a server. Raises: ShareUnavailable (as `open_carrier`)."""
    with _extras():
        from observer.sync.postgres import PostgresCarrier  # noqa: PLC0415 - of an extra

        return PostgresCarrier(url)


def open_search(url: str) -> ServerSearch:
    """Return what searches a share on a server, for the caller to close, as `open_carrier`."""
    with _extras():
        from observer.sync.postgres_search import ServerSearch  # noqa: PLC0415 - of an extra

        carrier = open_server(url)
        return ServerSearch(carrier.transaction, carrier.close)


def open_files(url: str, home_folder: Path) -> FolderCarrier:
    """Return the carrier of a share of files, which can invite too; raises as `open_carrier`."""
    with _extras():
        from observer.sync.folder import FolderCarrier  # noqa: PLC0415 - of an extra

        return FolderCarrier(url, home_folder, is_git=is_git(url))


def open_team(url: str, home_folder: Path) -> FolderCarrier | ServerTeam:
    """Return what lists, invites and removes members, of a server with its owner's login."""
    if not is_server(url):
        return open_files(url, home_folder)
    with _extras():
        from observer.sync.postgres import ServerTeam  # noqa: PLC0415 - of an extra

        return ServerTeam(url)


def create_share(url: str, home_folder: Path, *, person: str) -> FolderCarrier | ServerTeam:
    """Found a share: of files with this machine as its first member, on a server without any.

    Raises: BadInput (something else lies there), ShareUnavailable (as `open_carrier`).
    """
    with _extras():
        if is_server(url):
            from observer.sync import postgres  # noqa: PLC0415 - of an extra

            postgres.create(url)
        else:
            from observer.sync import folder  # noqa: PLC0415 - of an extra

            folder.create(url, home_folder, is_git=is_git(url), person=person)
    return open_team(url, home_folder)


def join_share(url: str, home_folder: Path, code: str) -> FolderCarrier:
    """Make this machine a member of a share of files that it was invited to.

    Raises: BadInput (of the code), ShareUnavailable (the invitation has not arrived).
    """
    if is_server(url):
        raise BadInput(
            "a server takes no code", hint="add the share by the address with your login"
        )
    with _extras():
        from observer.sync import folder  # noqa: PLC0415 - of an extra

        folder.join(url, home_folder, code, is_git=is_git(url))
    return open_files(url, home_folder)


def is_server(url: str) -> bool:
    """Return True if an address is a PostgreSQL server's."""
    return url.startswith(("postgresql://", "postgres://"))


def without_login(url: str) -> str:
    """Return the address of a share as it may be shown: a server's without its login."""
    if not is_server(url):
        return url
    login = urlsplit(url).netloc.rpartition("@")[0]
    return re.sub(r"(?<=[?&]password=)[^&]*", "", url.replace(f"//{login}@", "//", 1))


def is_git(url: str) -> bool:
    """Return True if an address is a git repository's rather than a folder's or a server's."""
    is_remote = ("://" in url and not is_server(url)) or re.match(
        r"[\w.-]+@[\w.-]+:", url
    ) is not None
    is_bare = Path(url).joinpath("HEAD").is_file() and Path(url).joinpath("objects").is_dir()
    return is_remote or url.endswith(".git") or is_bare


@contextmanager
def _extras() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").split(".")[0])
        if not extra:
            raise
        raise ShareUnavailable(
            f"a share of this kind needs the package {error.name}", hint=extra_hint(extra)
        ) from error
