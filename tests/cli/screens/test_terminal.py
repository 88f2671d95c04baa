"""A person at a terminal: the daemon runs, keys are pressed, and the terminal is given back."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.screens.conftest import PROMPT, Tmux
from tests.support import Observer, Until

pytestmark = pytest.mark.slow

BASH = ("bash", "--norc", "--noprofile")
OLD, NEW = "The staging database listens on port 5433", "Staging's database moved to port 6001"


@pytest.fixture
def near(app: Path, observer: Observer, until: Until) -> Callable[[], int]:
    """Two notes that are near, in a home with a daemon; how many pairs are open."""
    for text in (OLD, NEW):
        assert observer("remember", text).returncode == 0

    def pairs() -> int:
        return len(json.loads(observer("note", "review", "--json").stdout))

    until(pairs)
    return pairs


def test_a_pair_is_found_read_and_settled_and_the_terminal_given_back(
    near: Callable[[], int], tmux: Callable[..., Tmux], observer: Observer
) -> None:
    terminal = tmux(*BASH)
    terminal.shows(PROMPT)
    terminal.type("stty -g > before", "Enter", "observer tui", "Enter")
    terminal.shows("What happened in app", OLD)
    terminal.type("/", "staging port", "Enter")
    terminal.shows("2 found in app")
    terminal.type("Enter")
    terminal.shows("Its session", "holds until it is changed")
    terminal.type("q", "Escape")
    terminal.shows("What happened in app")
    observer("remember", "Doors are painted blue")
    terminal.shows("Doors are painted blue")
    terminal.type("r")
    terminal.shows("1 near pair in app", NEW, OLD)
    terminal.run("resize-window", "-x", "100", "-y", "30")
    terminal.shows_beside("NEWER", "OLDER")
    terminal.run("resize-window", "-x", "44", "-y", "12")
    terminal.shows("NEWER", "OLDER")
    terminal.type("m")
    terminal.shows("In the place of both", "Keep it")
    terminal.type("Both in one: ", "C-s")
    terminal.shows("no near pairs of notes are left")
    assert near() == 0
    assert "Both in one: Staging" in observer("search", "staging").stdout
    terminal.type("q", "q")
    terminal.is_back()
    terminal.type("stty -g | diff before - && echo as it was", "Enter")
    terminal.shows("\nas it was")
    assert terminal.modes() == "0 0 1"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (None, 130)]
)
def test_however_it_ends_the_terminal_is_as_before(
    app: Path, tmux: Callable[..., Tmux], number: signal.Signals | None, code: int
) -> None:
    terminal = tmux(*BASH)
    terminal.shows(PROMPT)
    terminal.type("stty -g > before", "Enter", "NO_COLOR=1 observer tui", "Enter")
    terminal.shows("nothing is recorded here yet", "? Keys")
    assert terminal.modes() == "1 1 0"
    coloured = terminal.run("capture-pane", "-p", "-e")
    assert not [part for part in coloured.split("\x1b[") if part.startswith(("31m", "32m", "36m"))]
    if number is None:
        terminal.type("C-c")
    else:
        os.kill(terminal.children()[-1], number)
    terminal.is_back()
    terminal.type("echo code $?; stty -g | diff before - && echo as it was", "Enter")
    terminal.shows(f"\ncode {code}", "\nas it was")
    assert terminal.modes() == "0 0 1"


def test_events_are_printed_live(app: Path, tmux: Callable[..., Tmux], observer: Observer) -> None:
    terminal = tmux(*BASH)
    terminal.type("observer log --follow", "Enter")
    terminal.shows("nothing is recorded yet: one begins with the next prompt")
    here = {"session": "one", "client": "testbed", "cwd": str(app)}
    done = (
        {"kind": "prompt", "text": "paint the door\x1b[2J"},
        {"kind": "command", "command": "make paint", "exit_code": 2},
        {"kind": "reply", "text": "The door is blue now."},
    )
    for event in done:
        sent = observer("post", "--wait", stdin=json.dumps([{**event, **here}]))
        assert sent.returncode == 0, sent.stderr
    text = terminal.shows("turn         paint the door", "reply        The door is blue now.")
    assert text.count("make paint") == 1
    red = terminal.run("capture-pane", "-p", "-e")
    assert "\x1b[31mcommand" in red
    assert "\x1b[36mturn" in red
    terminal.type("C-c")
    terminal.is_back()
    terminal.type("echo code $?", "Enter")
    terminal.shows("\ncode 130")


SHELLS = {
    "bash": (BASH, "PS1='ready> '"),
    "zsh": (("zsh", "-f"), "PS1='ready> '; autoload -Uz compinit && compinit -u -D"),
    "fish": (("fish", "--no-config"), "function fish_prompt; echo -n 'ready> '; end"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_offers_what_the_memory_holds(
    app: Path, tmux: Callable[..., Tmux], observer: Observer, shell: str
) -> None:
    program, setting = SHELLS[shell]
    observer("remember", "$(touch owned) `touch owned`; touch owned")
    recorder = Path(__file__).parents[3] / "hooks" / "shell" / f"observer.{shell}"
    terminal = tmux(*program)
    terminal.type(f"{setting}", "Enter", f" source {recorder}; clear", "Enter")
    terminal.shows(PROMPT)
    terminal.type("observer rememb", "Tab", "x")
    terminal.shows("observer remember x")
    terminal.type("C-u", "observer note approve ", "Tab")
    terminal.shows("observer note approve 4")
    terminal.type("C-u", "observer mcp list core,sto", "Tab")
    terminal.shows("core,story")
    terminal.type("C-u", "observer search --project ", "Tab")
    terminal.shows("--project app")
    assert not (app / "owned").exists()
