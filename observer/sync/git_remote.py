"""A share in a git repository of its own: the files of a folder, fetched and pushed.

Each home has a clone in its `sharing` folder. What was written while the remote was out of reach
is in the clone, and goes with the next push.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from observer.core.errors import BadInput
from observer.git.exchange import Exchange
from observer.sync import keys
from observer.sync.folder import FolderCarrier
from observer.sync.segments import SEGMENTS

LOOK_S = 30.0
"""Between two looks at the remote while waiting."""


class GitCarrier(FolderCarrier):
    """The segments in a repository that is for nothing else.

    Args:
        url: of the repository, as git takes it.
        home: of this machine; its `sharing` folder holds the keys and the clone.

    Raises:
        ShareUnavailable: it is out of reach, holds other branches or no share, or this machine has
            no key to it.
    """

    def __init__(self, url: str, home: Path) -> None:
        folder = clone_of(url, home)
        self._exchange = _exchange(folder, url)
        if not (folder / keys.SHARE).exists():
            with keys.locked(home, folder.name):
                self._exchange.bring()
        super().__init__(folder, home)

    def wake(self, timeout_s: float) -> bool:
        """Wait until somebody has pushed; return False if nobody has."""
        waited = 0.0
        while not (is_news := self._exchange.is_news()) and waited < timeout_s:
            step = min(LOOK_S, timeout_s - waited)
            if self._closed.wait(step):
                return False
            waited += step
        return is_news

    def _let_go(self) -> None:
        shutil.rmtree(self.folder)

    def _bring(self) -> None:
        self._exchange.bring()

    def _send(self) -> None:
        self._exchange.send()


def _exchange(folder: Path, url: str) -> Exchange:
    return Exchange(folder, url, final=f"{SEGMENTS}/")


def clone_of(url: str, home: Path) -> Path:
    """Return where a home keeps its clone of a share."""
    return home / "sharing" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.clone"


def create(url: str, home: Path, *, person: str) -> None:
    """Found a share in an empty repository.

    Raises:
        BadInput: something is in it.
        ShareUnavailable: it is out of reach, or takes nothing.
    """
    folder = clone_of(url, home)
    exchange = _exchange(folder, url)
    if refs := exchange.refs():
        raise BadInput(f"{url} is not empty: it holds {min(refs)}", hint="name a new repository")
    with keys.locked(home, folder.name):
        keys.create(folder, home, person=person)
        exchange.send()


def join(url: str, home: Path, code: str) -> None:
    """Make this machine a member of the share in a repository.

    Raises:
        BadInput, ShareUnavailable: as `keys.join`, or it is out of reach.
    """
    folder = clone_of(url, home)
    exchange = _exchange(folder, url)
    with keys.locked(home, folder.name):
        exchange.bring()
        keys.join(folder, home, code)
        exchange.send()
