"""What each screen lists, opens and says, and that no text of others is more than text."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import OptionList

from observer.cli.screens.app import Review, Tui
from observer.core.model import Item
from observer.core.paths import Home
from observer.notes.pairs import How
from observer.store.database import SqliteStore
from tests.cli.conftest import Fill
from tests.hostile import HOSTILE
from tests.support import ended
from tests.tools.conftest import an_item

Work = Callable[["Seen"], Awaitable[None]]


class Seen:
    """The screens, and what is pressed on them."""

    def __init__(self, app: Tui, pilot: Pilot[int]) -> None:
        self.app, self._pilot = app, pilot

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def shows(self, *texts: str) -> str:
        end = time.monotonic() + 20
        while not all(text in self.text for text in texts):
            assert time.monotonic() < end, f"not {texts} in\n{self.text}"
            await self._pilot.pause(0.01)
        return self.text


def look(work: Work, size: tuple[int, int] = (80, 24)) -> None:
    async def run() -> None:
        app = Tui()
        async with app.run_test(size=size) as pilot:
            await work(Seen(app, pilot))

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.usefixtures("filled")
def test_what_happened_is_listed_searched_and_opened() -> None:
    async def work(seen: Seen) -> None:
        await seen.shows("What happened in app", "make the login page faster")
        await seen.press("slash", *"login")
        await seen.shows("2 found in app", "make the login")
        await seen.press("enter", "enter")
        await seen.shows("modified: login.py", "Its session")
        await seen.press("s")
        await seen.shows("testbed · app", "login.py", "make bench")
        await seen.press("escape", "escape", "escape")
        await seen.shows("What happened in app")
        await seen.press("s")
        await seen.shows("Sessions in app", "testbed")
        await seen.press("enter")
        await seen.shows("testbed · app", "login.py")
        await seen.press("enter", "t")
        await seen.shows("±0 ")
        await seen.press("question_mark")
        await seen.shows("search as you type")
        await seen.press("x", "q", "q", "q", "a")
        await seen.shows("What happened in all projects")
        await seen.press("q")
        assert seen.app.return_code == 0

    look(work)


@pytest.mark.usefixtures("filled")
def test_a_narrow_screen_leaves_the_times_out_and_shows_titles() -> None:
    async def work(seen: Seen) -> None:
        text = await seen.shows("make the login page")
        assert all(len(line) <= 40 for line in text.splitlines())
        assert "turn        make the login" in text

    look(work, size=(40, 10))


@pytest.fixture
def put(filled: Home, home: Home) -> Iterator[Callable[[Iterable[Item]], None]]:
    """Put items into the project that is the current folder."""
    store = SqliteStore(home.database)

    def write(items: Iterable[Item]) -> None:
        with store.read() as reader:
            project = max(one.id for one in reader.projects())
        with store.write() as writer:
            writer.put_items([replace(item, project_id=project) for item in items])

    yield write
    store.close()


def test_the_list_goes_on_to_the_first(put: Callable[[Iterable[Item]], None]) -> None:
    put(an_item(100 + n, f"paint door {n}", type="turn") for n in range(250))

    async def work(seen: Seen) -> None:
        await seen.shows("paint door 249")
        rows = seen.app.screen.query_one(OptionList)
        assert rows.option_count == 200
        await seen.press("G")
        await seen.shows("paint door 51")
        while rows.option_count == 200:
            await seen.press("j")
        await seen.press("G")
        await seen.shows("paint door 0 ")
        assert rows.option_count == 251

    look(work)


@pytest.mark.slow
def test_an_empty_screen_says_why_and_what_to_do(fill: Fill, app: Path) -> None:
    fill([{"kind": "command", "command": "make", "cwd": str(app)}])

    async def work(seen: Seen) -> None:
        await seen.shows("nothing is recorded here yet", "observer install", "a for all projects")
        await seen.press("s")
        await seen.shows("no session yet")
        await seen.press("escape", "r")
        await seen.shows("no near pairs of notes are left")
        await seen.press("escape", "slash", *"zebra", "enter")
        await seen.shows("nothing found: try other words")

    look(work)


@pytest.mark.usefixtures("home")
def test_a_memory_that_cannot_be_read_is_said_on_the_screen() -> None:
    async def work(seen: Seen) -> None:
        await seen.shows("there is no memory at", "start it with: observer up")

    look(work)


NEVER = {*map(chr, range(0x20)), *"\x7f\x9b\u202e\u2066\u2067\u200b\ufeff\U000e0041"} - {"\n"}


@pytest.mark.slow
def test_hostile_text_is_only_text(put: Callable[[Iterable[Item]], None]) -> None:
    items = []
    for place, text in enumerate(HOSTILE):
        stored = text.encode("utf-8", "replace").decode()
        fields: dict[str, Any] = {"narrative": stored, "facts": (stored,), "subtitle": stored}
        title = f"[bold red]{place}[/] {stored[:5_000]}"
        items.append(an_item(90_000 + place, title, type="turn", **fields))
    put(items)

    async def work(seen: Seen) -> None:
        listed = await seen.shows(f"[bold red]{len(HOSTILE) - 1}[/]", "[bold red]5[/]")
        assert not NEVER & {*listed}
        for _ in items:
            await seen.press("j", "enter")
            text = await seen.shows("Its session", "[bold red]")
            assert not NEVER & {*text}
            await seen.press("escape")

    look(work)


def test_each_key_of_the_review_says_what_can_be_said_of_a_pair() -> None:
    actions = [bound.action for bound in Review.BINDINGS if isinstance(bound, Binding)]
    said = [one[len("settle('") : -2] for one in actions if one.startswith("settle(")]
    assert {*said, "merge"} == {*get_args(How)}


WITHOUT = """
import sys
sys.modules["textual"] = None
sys.stdin.isatty = sys.stdout.isatty = lambda: True
from observer.cli import main
main(["tui"])
"""


def test_without_textual_its_extra_is_named() -> None:
    done = ended([sys.executable, "-c", WITHOUT])
    assert (done.returncode, done.stdout) == (1, "")
    assert "observer tui needs the package textual" in done.stderr
    assert " -m pip install 'observer-memory[tui]'" in " ".join(done.stderr.split())
