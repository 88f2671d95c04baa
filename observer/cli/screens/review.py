"""The screen on which near pairs of notes are settled, by one key each."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer, Static, TextArea

from observer.cli.screens import Asker, words_of
from observer.core.errors import ObserverError
from observer.core.text import counted, plain


class Review(Screen[None]):
    """One pair after the other: the newer note, and the older one beside or below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.out", "Back"),
        Binding("r", "settle('replaces')", "Replaces"),
        Binding("a", "settle('amends')", "Amends"),
        Binding("b", "settle('both stand')", "Both stand"),
        Binding("m", "merge", "Merge"),
        Binding("s", "skip", "Skip"),
    ]

    def __init__(self, source: Asker) -> None:
        super().__init__()
        self._source = source
        self._pairs: list[dict[str, Any]] = []
        self._is_busy = True

    def compose(self) -> ComposeResult:
        yield Static("", id="head", markup=False)
        with Container(id="pair"):
            for end in ("newer", "older"):
                with VerticalScroll(classes="end"):
                    yield Static("", id=end, markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self._load()

    def on_resize(self, event: Resize) -> None:
        """Put the notes below each other where they are too narrow beside."""
        self.query_one("#pair").set_class(event.size.width >= 90, "beside")

    @work
    async def _load(self) -> None:
        try:
            found = await self._source.listed("pairs", limit=50)
        except ObserverError as error:
            self._say(words_of(error))
            return
        self._pairs = found["pairs"]
        self._is_busy = False
        self._show(found["degraded"])

    def _show(self, remark: str = "") -> None:
        if not self._pairs:
            empty = "no near pairs of notes are left to settle: they come as notes are kept"
            self._say("\n".join(filter(None, (f"{empty} {self._source.scope}", remark))))
            return
        left = f"{counted(len(self._pairs), 'near pair')} {self._source.scope}: the newer note …"
        self._say("\n".join(filter(None, (left, remark))))
        for end in ("newer", "older"):
            head, _, rest = plain(self._pairs[0][end]["shown"]).partition("\n")
            shown = Text.assemble((end.upper(), "bold"), "\n", (head, "yellow"), "\n", rest)
            self.query_one(f"#{end}", Static).update(shown)

    def _say(self, text: str) -> None:
        self.query_one("#head", Static).update(plain(text))
        self.query_one("#pair").display = bool(self._pairs)

    async def action_settle(self, how: str, content: str = "") -> None:
        """Say what holds of the pair that is shown, and show the next one."""
        if self._is_busy or not self._pairs:
            return
        self._is_busy = True
        newer, older = (self._pairs[0][end]["id"] for end in ("newer", "older"))
        try:
            await self._source.settle(newer, older, how, content)
        except ObserverError as error:
            self.notify(plain(words_of(error)), severity="error", markup=False)
        else:
            self.notify(f"#{newer}, #{older}: {how}", markup=False)
            # What was replaced or merged stands no longer in any other pair.
            gone = {"replaces": {older}, "merge": {newer, older}}.get(how, set())
            self._pairs = [
                pair
                for pair in self._pairs[1:]
                if not gone & {pair["newer"]["id"], pair["older"]["id"]}
            ]
            self._show()
        self._is_busy = False

    def action_skip(self) -> None:
        self._pairs = [*self._pairs[1:], *self._pairs[:1]]
        self._show()

    def action_merge(self) -> None:
        if self._pairs:
            both = "\n\n".join(self._pairs[0][end]["content"] for end in ("newer", "older"))
            self.app.push_screen(Merged(plain(both)), self._merged)

    async def _merged(self, content: str | None) -> None:
        if content and content.strip():
            await self.action_settle("merge", content)


class Merged(Screen[str]):
    """An editor for the note that takes the place of two."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority, which would let it overtake what was typed just before.
        Binding("ctrl+s", "keep", "Keep it"),
        Binding("escape", "leave", "Leave both", priority=True),
    ]

    def __init__(self, content: str) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        yield Static("In the place of both is said from now on:", id="head", markup=False)
        yield TextArea(self._content)
        yield Footer()

    def on_mount(self) -> None:
        self.set_focus(self.query_one(TextArea))

    def action_keep(self) -> None:
        self.dismiss(self.query_one(TextArea).text)

    def action_leave(self) -> None:
        self.dismiss("")
