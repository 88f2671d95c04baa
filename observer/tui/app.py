"""The application: its screens, its keys, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from observer.tools.asking import CommandReply
from observer.tui.lists import TimelineScreen
from observer.tui.source import Asker

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
        """Yield the keys."""
        with VerticalScroll(id="keys"):
            yield Static(KEYS, markup=False)

    def on_key(self) -> None:
        """Go back."""
        self.dismiss()

    def on_click(self) -> None:
        """Go back."""
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

    def __init__(self, source: Asker) -> None:
        super().__init__()
        self._source = source
        self.animation_level = "none"

    def on_mount(self) -> None:
        """Show the first screen, and be ready to be ended from outside."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self.action_end, 128 + number)
        self.push_screen(TimelineScreen(self._source))

    def action_keys(self) -> None:
        """Show the keys."""
        self.push_screen(Keys())

    def action_out(self) -> None:
        """Leave this screen, or the application with the first one."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.action_end(0)

    def action_end(self, code: int) -> None:
        """End with an exit code."""
        self.exit(code)


def run(
    answer: Callable[..., CommandReply], change: Callable[..., Any], stamp: Callable[[], Hashable]
) -> int:
    """Show the memory until the person leaves, and return the exit code; see `Asker`."""
    for name in ("COLUMNS", "LINES"):  # else it stays as large as they say when it is resized
        os.environ.pop(name, None)
    return Tui(Asker(answer, change, stamp)).run() or 0
