"""What a person chose by hand: which items are given unasked, and how sessions are called."""

from __future__ import annotations

from collections.abc import Callable

from observer.core.errors import BadInput, NotFound
from observer.core.filters import HIDE, PIN, is_visible
from observer.core.model import Item
from observer.core.text import one_line
from observer.redaction.redact import redact_text
from observer.search.handles import meant, session_id
from observer.store.interface import Store

TITLE_CHARS = 120


class Choices:
    """Reads and writes of choices; `chose` is called after each that bears on what is given."""

    def __init__(self, store: Store, *, owner: str, chose: Callable[[], object]) -> None:
        self._store = store
        self._owner = owner
        self._chose = chose

    def give(self, handle: str, how: str) -> Item:
        """Set how an item is given: hidden, pinned, or with an empty `how` as before; return it.

        Raises:
            BadInput: `how` is something else.
            NotFound, Ambiguous: the item.
            StoreUnavailable: the memory is open for reading only.
        """
        if how not in {HIDE, PIN, ""}:
            raise BadInput(f"no choice {how[:80]!r}", hint=f"{HIDE} it, {PIN} it, or neither")
        with self._store.write() as writer:
            number = meant(writer, handle)
            item = writer.item(number)
            if item is None or not is_visible(item, self._owner):
                raise NotFound(f"no item {handle[:80]!r}", hint="search for it first")
            writer.choose("given", number, how)
        self._chose()
        return item

    def given(self) -> dict[int, str]:
        """Return the choices of items, "hide" or "pin", by their ids."""
        with self._store.read() as reader:
            return reader.chosen("given")

    def hidden(self, project_id: int) -> list[Item]:
        """Return the hidden items of a project and of none, newest first."""
        with self._store.read() as reader:
            ids = [one for one, how in reader.chosen("given").items() if how == HIDE]
            found = [one for one in reader.items(ids) if is_visible(one, self._owner)]
        here = [one for one in found if one.project_id in {project_id, None}]
        return sorted(here, key=lambda one: -one.created_ms)

    def rename(self, handle: str, title: str) -> int:
        """Set the title of a session, or with an empty one the old one; return its id.

        What is secret in a title is redacted, and it is cut at `TITLE_CHARS`.

        Raises:
            NotFound: there is no such session.
            StoreUnavailable: the memory is open for reading only.
        """
        with self._store.write() as writer:
            number = session_id(writer, handle)
            if number is None:
                raise NotFound("no session is named", hint="see: observer sessions")
            writer.choose("title", number, one_line(redact_text(title), TITLE_CHARS).strip())
        return number
