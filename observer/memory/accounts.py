"""What happened since a time, or in a session, as its owner sees it."""

from __future__ import annotations

from observer.recall.account import Account, Course, account, course
from observer.recall.handles import named
from observer.store.interface import Store


class Accounts:
    """Reads of what happened; items stand as the store tells it."""

    def __init__(self, store: Store, *, owner: str) -> None:
        self._store = store
        self._owner = owner

    def since(self, since_ms: int, *, project: str | None = None) -> Account:
        """Return what happened since a time, in all projects unless one is named.

        Raises:
            NotFound, Ambiguous: the project.
        """
        with self._store.read() as reader:
            asked = named(reader.projects(), project).id if project else None
            return account(reader, since_ms, project_id=asked, owner=self._owner)

    def of_session(self, handle: str, *, limit: int) -> Course:
        """Return what a session left in the memory, the newest items of it.

        Args:
            handle: the client's own id of it, or ours.
            limit: most items.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read() as reader:
            return course(reader, handle, owner=self._owner, limit=limit)
