"""Whether this daemon still owns its home: the files at the home's paths are those it opened.

Somebody may delete the home or the database, or put others in their place, while the daemon runs.
Its open database would then swallow events that nobody finds again, so every write asks here first.
"""

from __future__ import annotations

from pathlib import Path

from observer.errors import DaemonUnavailable
from observer.paths import Home


class HomeLost(DaemonUnavailable):
    """The home is not this daemon's any more; it must leave without touching what is there."""


class Tenure:
    """Remembers each file of the home as it was first seen; made once the sockets listen.

    The database counts from when it was opened: before, it may be mended or written anew.
    """

    def __init__(self, home: Home) -> None:
        self._paths = [home.lock, home.socket, home.mcp_socket]
        self._known: dict[Path, tuple[int, int]] = {}
        self.check()

    def own(self, path: Path) -> None:
        """Remember one more file."""
        self._paths = [*self._paths, path]
        self.check()

    def check(self) -> None:
        """Return if all is as it was; costs four calls of `stat`.

        Raises:
            HomeLost: a file is gone or is another one.
        """
        for path in self._paths:
            known, found = self._known.get(path), _identity(path)
            if known is None and found is not None:
                self._known[path] = found
            elif found != known:
                raise HomeLost(f"{path} was {'replaced' if found else 'removed'}", hint="try again")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
