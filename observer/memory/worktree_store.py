"""A store as it looks from a folder: what is read says how it stands in the work tree there.

The work tree that an answer is given in, which git is asked about.

What is not committed is a question to git at the moment of the answer; what sessions remember of it
is only the list of files to ask about.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import msgspec

from observer.core.filters import Filters
from observer.core.model import Project
from observer.core.paths import is_inside
from observer.git.status import uncommitted
from observer.policy import Policies
from observer.search.handles import Narrow, filters_of
from observer.search.recent_sessions import Uncommitted
from observer.store.interface import Reader, Store, Writer

_POLICIES = Policies()


class SeenFrom:
    """Implements `store.interface.Store` over another one."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store = store
        self._folder = folder

    @property
    def folder(self) -> str:
        """The folder from which it is looked."""
        return self._folder

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Lend a reader that looks from the folder."""
        with self._store.read() as reader:
            reader.seen_from(self._folder)
            yield reader

    def write(self) -> AbstractContextManager[Writer]:
        """See `Store.write`."""
        return self._store.write()

    def check(self) -> str:
        """See `Store.check`."""
        return self._store.check()

    def close(self) -> None:
        """See `Store.close`."""
        self._store.close()


def scoped(
    store: Store, reader: Reader, narrow: Narrow, *, project: str | None, owner: str
) -> Filters:
    """Return `filters_of` a search, without projects that are not shared if none is named.

    A project that is not shared is found when it is named, or asked from one of its folders.

    Raises:
        NotFound, Ambiguous: the project, or the session.
    """
    asked = filters_of(reader, narrow, project=project, owner=owner)
    if asked.project_id is not None or asked.session_id is not None:
        return asked
    here = store.folder if isinstance(store, SeenFrom) else ""
    apart = _POLICIES.unshared(reader.projects(), here)
    return msgspec.structs.replace(asked, without=tuple(sorted(apart)))


def uncommitted_at(project: Project, folder: str) -> Uncommitted | None:
    """Return what asks git which files differ from the last commit; None without a work tree.

    The work tree is the root of the project around the folder, else the newest root.
    """
    here = [root for root in project.roots if folder and is_inside(folder, root)]
    root = max(here or project.roots[-1:], key=len, default="")
    return partial(uncommitted, root) if root else None
