"""The screens of a terminal, which is as it was after the end, however that comes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, cast

import orjson
from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.css.query import NoMatches
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from observer.cli.read import text_of
from observer.cli.session import on_behalf, written
from observer.core.errors import ObserverError
from observer.core.moment import minute_of
from observer.core.text import counted, one_line, plain
from observer.tools.asking import FIRST_SESSION, MOST_RESULTS, colour_of, scope_line

if TYPE_CHECKING:
    from textual.widgets import TextArea

Row = dict[str, Any]

ROWS = 200
"""Rows of one page; more come as the last one is reached."""
TITLE_CHARS = 400


def vi(*actions: str) -> list[BindingType]:
    """Return the keys of `less` and `vi` down, up, to the first and to the last."""
    return [Binding(key, action, show=False) for key, action in zip("jkgG", actions, strict=True)]


class Asker:
    """Asks, and changes as the person at the terminal, without holding up the screen."""

    def __init__(self) -> None:
        self.everywhere = False
        self.scope = ""

    async def listed(self, question: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON of each question
        """Return the JSON of what is asked of this project, or of all; raises as `text_of`."""
        given = {"project": None, "everywhere": self.everywhere, **arguments}
        scope, text = await asyncio.to_thread(text_of, question, is_json=True, **given)
        self.scope = scope.partition(" (")[0]
        return orjson.loads(text)

    async def shown(self, question: str, *, is_json: bool = False, **arguments: object) -> str:
        """Return the text, or the JSON, of one item or session; raises as `listed`."""
        return (await asyncio.to_thread(text_of, question, is_json=is_json, **arguments))[1]


def words_of(error: ObserverError) -> str:
    """Return what is wrong, and on a line of its own what to do."""
    return "\n".join(filter(None, (error.message, error.hint)))


class Words(VerticalScroll):
    """A text with the keys of `less` and `vi` beside its own."""

    BINDINGS: ClassVar[list[BindingType]] = vi(
        "scroll_down", "scroll_up", "scroll_home", "scroll_end"
    )


class ItemScreen(Screen[None]):
    """One item as text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.out", "Back"),
        Binding("s", "session", "Its session"),
        Binding("t", "around", "Around it"),
    ]

    def __init__(self, source: Asker, handle: str) -> None:
        super().__init__()
        self._source = source
        self._handle = handle

    def compose(self) -> ComposeResult:
        with Words(id="text"):
            yield Static("", id="words", markup=False)
        yield Footer()

    def on_mount(self) -> None:
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
        self._show("timeline", anchor=self._handle, depth_before=10, depth_after=10)

    async def action_session(self) -> None:
        asked = {"handles": [self._handle], "limit": 1}
        try:
            found = orjson.loads(await self._source.shown("show", is_json=True, **asked))
        except ObserverError as error:
            self.notify(plain(words_of(error)), severity="error", markup=False)
            return
        if session := found["observations"][0]["session"]:
            self.app.push_screen(SessionScreen(self._source, session))
        else:
            self.notify("it belongs to no session", markup=False)


class Rows(OptionList):
    """A list with the keys of `less` and `vi` beside its own."""

    BINDINGS: ClassVar[list[BindingType]] = vi("cursor_down", "cursor_up", "first", "last")


class Listing(Screen[None]):
    """A list of rows, one of which is opened by Enter or a click."""

    heading = ""

    def __init__(self, source: Asker) -> None:
        super().__init__()
        self.source = source
        self.listed: list[Row] = []

    def compose(self) -> ComposeResult:
        yield Static(self.heading, id="head", markup=False)
        yield Static("", id="empty", markup=False)
        yield Rows(id="list", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Rows))
        self.reload()

    @work(exclusive=True, group="load")
    async def reload(self, after_s: float = 0.0) -> None:
        """Ask again; what is still asked is given up."""
        await asyncio.sleep(after_s)
        try:
            found, empty = await self.rows()
        except ObserverError as error:
            found, empty = [], words_of(error)
        with suppress(NoMatches):  # it was left meanwhile
            self.show(found, empty)

    async def rows(self) -> tuple[list[Row], str]:
        """Return what to list, and what is said if that is nothing."""
        raise NotImplementedError

    def line(self, row: Row) -> Text:
        kind = plain(one_line(row["type"], 10))
        has_failed = row.get("failed") or row.get("category") == "failed"
        colour = colour_of(kind, failed=bool(has_failed))
        parts = [(f"{kind:<10}  ", colour), (plain(one_line(row["title"], TITLE_CHARS)), "")]
        when = minute_of(row["created_at"])[5:16]
        is_roomy = self.size.width >= 60
        return Text.assemble(*([(f"{when}  ", "dim")] if is_roomy else []), *parts)

    def show(self, found: Sequence[Row], empty: str) -> None:
        box = self.query_one(Rows)
        chosen = box.highlighted
        known = self.listed[chosen]["id"] if chosen and chosen < len(self.listed) else None
        self.listed = list(found)
        box.clear_options()
        box.add_options([self._option(row) for row in self.listed])
        places = (place for place, row in enumerate(self.listed) if row["id"] == known)
        box.highlighted = next(places, 0) if self.listed else None
        said = self.query_one("#empty", Static)
        said.update(plain("" if self.listed else empty))
        said.display = not self.listed
        self.query_one("#head", Static).update(plain(self.title_line()))

    def title_line(self) -> str:
        return f"{self.heading} {self.source.scope}".strip()

    def _option(self, row: Row) -> Option:
        text = self.line(row)
        text.truncate(max(self.size.width - 4, 10), overflow="ellipsis")
        return Option(text)

    def on_resize(self) -> None:
        if self.listed:
            self.call_after_refresh(self.show, self.listed, "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.open(self.listed[event.option_index])

    def open(self, row: Row) -> None:
        self.app.push_screen(ItemScreen(self.source, str(row["id"])))


class TimelineScreen(Listing):
    """What happened, newest first; what is found as soon as something is typed."""

    heading = "What happened"
    BINDINGS: ClassVar[list[BindingType]] = [
        # Of priority: what is typed behind it, before this was seen to, is for the box.
        Binding("slash", "search", "Search", key_display="/", priority=True),
        Binding("a", "everywhere", "All projects"),
        Binding("s", "sessions", "Sessions"),
        Binding("r", "review", "Review"),
        Binding("escape", "clear", "Timeline", show=False),
    ]

    def __init__(self, source: Asker) -> None:
        super().__init__(source)
        self._seen = written()
        self._is_whole = False

    def compose(self) -> ComposeResult:
        yield Input(placeholder="/ to search; words, title:auth*, NOT oauth", id="words")
        yield from super().compose()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self._look)

    @property
    def words(self) -> str:
        return self.query_one(Input).value.strip()

    def _look(self) -> None:
        now = written()
        if now != self._seen and self.is_current and not self.words and len(self.listed) <= ROWS:
            self._seen = now
            self.reload()

    async def rows(self) -> tuple[list[Row], str]:
        if words := self.words:
            options = {"limit": MOST_RESULTS, "notes": False, "weak": False, "explain": False}
            hits = await self.source.listed("search", query=words, **options)
            found = [*hits["observations"], *hits["summaries"]]
            found.sort(key=lambda row: -row["score"])
            empty = "nothing found: try other words, Escape for the timeline"
        else:
            found = await self.source.listed("happened", limit=ROWS)
            self._is_whole = len(found) < ROWS
            empty = f"nothing is recorded here yet: {FIRST_SESSION}"
        is_all = self.source.scope == scope_line("")
        return found, empty if is_all else f"{empty}, or a for all projects"

    def title_line(self) -> str:
        heading = f"{len(self.listed)} found" if self.words else self.heading
        return f"{heading} {self.source.scope}"

    def on_input_changed(self) -> None:
        self.reload(0.12)  # once typing pauses

    def on_input_submitted(self) -> None:
        self.set_focus(self.query_one(Rows))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        is_last = event.option_index == len(self.listed) - 1
        if is_last and self.listed and not (self.words or self._is_whole):
            self._load_more()

    @work(exclusive=True, group="load")
    async def _load_more(self) -> None:
        last = self.listed[-1]
        behind = {"until_ms": last["at_ms"], "before_id": last["id"]}
        try:
            found = await self.source.listed("happened", limit=ROWS, **behind)
        except ObserverError as error:
            self.notify(plain(words_of(error)), severity="error", markup=False)
            return
        self._is_whole = len(found) < ROWS
        self.listed += found
        self.query_one(Rows).add_options([self._option(row) for row in found])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a slash be a letter where words are typed."""
        is_typing = isinstance(self.focused, Input)
        return not (action == "search" and is_typing) and super().check_action(action, parameters)

    def action_search(self) -> None:
        self.set_focus(self.query_one(Input))

    def action_clear(self) -> None:
        self.query_one(Input).value = ""
        self.set_focus(self.query_one(Rows))

    def action_everywhere(self) -> None:
        self.source.everywhere = not self.source.everywhere
        self.reload()

    def action_sessions(self) -> None:
        self.app.push_screen(SessionList(self.source))

    def action_review(self) -> None:
        self.app.push_screen(Review(self.source))


class Below(Listing):
    """A list that was opened from another one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.out", "Back")]


class SessionList(Below):
    """Sessions, last active first."""

    heading = "Sessions"

    async def rows(self) -> tuple[list[Row], str]:
        found = await self.source.listed("sessions", active=False, limit=ROWS)
        return found, f"no session yet: {FIRST_SESSION}"

    def line(self, row: Row) -> Text:
        about = plain(f"{row['client'][:12]:<12}  {one_line(row['request'], TITLE_CHARS)}")
        is_on = "bold green" if row["status"] == "active" else ""
        when = minute_of(row["last_at"])[5:16]
        return Text.assemble((f"s{row['id']:<7} ", is_on), (f"{when}  ", "dim"), about)

    def open(self, row: Row) -> None:
        self.app.push_screen(SessionScreen(self.source, f"s{row['id']}"))


class SessionScreen(Below):
    """The course of one session, oldest first; what its sub-agents did is indented."""

    def __init__(self, source: Asker, handle: str) -> None:
        super().__init__(source)
        self._handle = handle
        self.heading = f"Session {handle}"
        self._below: set[int] = set()

    async def rows(self) -> tuple[list[Row], str]:
        asked = {"handles": [self._handle], "limit": ROWS}
        found = orjson.loads(await self.source.shown("show", is_json=True, **asked))
        (session,) = found["sessions"]
        self._below = {item for child in session["children"] for item in child["items"]}
        about = (session["client"], session["project"], session["status"], session["request"])
        left_out = f"({session['left_out']:,} earlier left out)" if session["left_out"] else ""
        parts = (self._handle, *(one_line(part, 120) for part in about), left_out)
        self.heading = " · ".join(filter(None, parts))
        return cast("list[Row]", session["items"]), "nothing of this session is kept"

    def title_line(self) -> str:
        return self.heading

    def line(self, row: Row) -> Text:
        return Text("  " * (row["id"] in self._below)) + super().line(row)


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
        if self._is_busy or not self._pairs:
            return
        self._is_busy = True
        newer, older = (self._pairs[0][end]["id"] for end in ("newer", "older"))
        try:
            asked = {"id": newer, "other": older, "how": how, "content": content}
            await asyncio.to_thread(on_behalf, "/note", action="settle", **asked)
        except ObserverError as error:
            self.notify(plain(words_of(error)), severity="error", markup=False)
        else:
            self.notify(f"#{newer}, #{older}: {how}", markup=False)
            # What was replaced or merged stands no longer in any other pair.
            gone = {"replaces": {older}, "merge": {newer, older}}.get(how, set())
            ids = ({pair[end]["id"] for end in ("newer", "older")} for pair in self._pairs[1:])
            left = zip(self._pairs[1:], ids, strict=True)
            self._pairs = [pair for pair, of_pair in left if not gone & of_pair]
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
        from textual.widgets import TextArea  # noqa: PLC0415 - seldom wanted, and slow to import

        yield TextArea(self._content)
        yield Footer()

    def on_mount(self) -> None:
        self.set_focus(self.query_one("TextArea"))

    def action_keep(self) -> None:
        self.dismiss(cast("TextArea", self.query_one("TextArea")).text)

    def action_leave(self) -> None:
        self.dismiss("")


KEYS = """\
up down j k     another line           Enter, click   open it
g G             first, last            Escape, q      back, and out
/               search as you type     Escape         the timeline again
a               all projects, or the one of this folder
s               sessions; on an item:  its session
t               on an item: what happened around it
r               review near pairs of notes; there:
  r replaces    a amends    b both stand    m merge    s skip
?               these keys             Ctrl-C         out
"""


class Keys(ModalScreen[None]):
    """The keys, until any is pressed."""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="keys"):
            yield Static(KEYS, markup=False)

    def on_key(self) -> None:
        self.dismiss()

    def on_click(self) -> None:
        self.dismiss()


class Tui(App[int]):
    """The memory on a terminal."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #head { height: auto; padding: 0 1; text-style: bold; }
    #list { height: 1fr; border: none; padding: 0 1; }
    #empty { height: auto; padding: 1 2; }
    #words { height: auto; }
    Input { border: none; height: 1; background: $surface-lighten-1; }
    #text { height: 1fr; padding: 0 1; }
    #pair { height: 1fr; layout: vertical; }
    #pair.beside { layout: horizontal; }
    .end { height: 1fr; width: 1fr; border: round $primary; padding: 0 1; }
    Keys { align: center middle; }
    #keys { width: auto; max-width: 100%; height: auto; max-height: 100%;
            border: round $primary; padding: 0 1; background: $surface; }
    #keys Static { width: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "keys", "Keys", key_display="?"),
        Binding("q", "out", "Out"),
        Binding("ctrl+c", "end(130)", "Out", show=False, priority=True),
        Binding("ctrl+q", "end(0)", "Out", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.animation_level = "none"

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self.action_end, 128 + number)
        self.push_screen(TimelineScreen(Asker()))

    def action_keys(self) -> None:
        self.push_screen(Keys())

    def action_out(self) -> None:
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.action_end(0)

    def action_end(self, code: int) -> None:
        self.exit(code)


def run() -> int:
    """Show the memory until the person leaves, and return the exit code."""
    for name in ("COLUMNS", "LINES"):  # else it stays as large as they say when it is resized
        os.environ.pop(name, None)
    return Tui().run() or 0
