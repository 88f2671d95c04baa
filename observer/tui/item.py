"""The screen of one item: everything that is known of it, and what happened around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import orjson
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from observer.core.errors import ObserverError
from observer.core.text import plain
from observer.tui.source import Asker, words_of


class Words(VerticalScroll):
    """A text with the keys of `less` and `vi` beside its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]


class ItemScreen(Screen[None]):
    """One item as text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.out", "Back"),
        Binding("s", "session", "Its session"),
        Binding("t", "around", "Around it"),
    ]

    def __init__(self, source: Asker, handle: str, *, open_session: Callable[[str], None]) -> None:
        super().__init__()
        self._source = source
        self._handle = handle
        self._open_session = open_session

    def compose(self) -> ComposeResult:
        """Yield the text, and the keys."""
        with Words(id="text"):
            yield Static("", id="words", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Ask for the item."""
        self.set_focus(self.query_one(Words))
        self._show("show", handles=[self._handle], limit=1)

    @work(exclusive=True)
    async def _show(self, question: str, **asked: Any) -> None:  # noqa: ANN401 - of each question
        try:
            text = await self._source.shown(question, **asked)
        except ObserverError as error:
            text = words_of(error)
        head, _, rest = plain(text).partition("\n")
        self.query_one(Static).update(Text.assemble((head, "bold"), "\n", rest))

    def action_around(self) -> None:
        """Show what happened around the item."""
        self._show("timeline", anchor=self._handle, depth_before=10, depth_after=10)

    async def action_session(self) -> None:
        """Open the session that the item is of."""
        asked = {"handles": [self._handle], "limit": 1}
        try:
            found = orjson.loads(await self._source.shown("show", is_json=True, **asked))
        except ObserverError as error:
            self.notify(plain(words_of(error)), severity="error", markup=False)
            return
        if session := found["observations"][0]["session"]:
            self._open_session(session)
        else:
            self.notify("it belongs to no session", markup=False)
