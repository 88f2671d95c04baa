"""Ctrl-R in real shells under tmux: what is shown, what comes back, and what it leaves behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, installed_parts, perform, uninstall
from observer.core.clock import now_ms
from observer.core.events import Command, Event
from observer.core.paths import Home
from observer.local import client
from tests.clients.conftest import Files, Tmux
from tests.hostile import HOSTILE
from tests.support import Observer, Until

SHELLS = ["bash", "zsh", "fish"]
every_shell = pytest.mark.parametrize("shell", SHELLS)
RC = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
MULTI = "printf '%s\\n' 'first part' \\\n  'second part'"


class Terminal:
    """A shell in a pane, with Ctrl-R installed."""

    def __init__(self, tmux: Tmux, until: Until) -> None:
        self.tmux, self._until = tmux, until

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def shows(self, *words: str, but: str = "\0") -> str:
        def holds() -> bool:
            seen = self.text()
            return all(re.search(word, seen) for word in words) and not re.search(but, seen)

        try:
            self._until(holds)
        except AssertionError:
            raise AssertionError(f"no {words} (but {but!r}) in:\n{self.text()}") from None
        return self.text()

    def opens(self, *words: str) -> str:
        self.keys("C-r")
        return self.shows("Enter run", *words)

    def is_back(self) -> str:
        return self.shows(r"\$", but="Enter run")


@pytest.fixture
def enter(context: InstallContext, tmux: Tmux, until: Until) -> Callable[[str], Terminal]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")

    def start(shell: str, history: str = "") -> Terminal:
        program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
        wanted = replace(context, ctrl_r=True)
        rc = context.user_home / RC[shell]
        rc.parent.mkdir(parents=True, exist_ok=True)
        rc.write_text(
            "set -g fish_greeting\nfunction fish_prompt; echo '$ '; end\n"
            if shell == "fish"
            else "PS1='$ '\nHISTFILE=~/.history SAVEHIST=99 HISTSIZE=99\n"
        )
        (context.user_home / ".history").write_text(history)
        perform(install(shell, wanted), context.home, at_ms=1)
        tmux("new-session", "-d", "-x", "100", "-y", "24", program)
        made = Terminal(tmux, until)
        made.shows(r"\$")
        return made

    return start


def ran(number: int, command: str, **fields: Any) -> Event:
    """A command that ended, a second after the one before it."""
    code = fields.pop("exit_code", 0)
    given = {"cwd": "/tmp/elsewhere", "author": "person", "session": "one", "client": "bash"}
    return Event(
        id=f"typed-{number}",
        at_ms=now_ms() - 1_000_000 + 1_000 * number,
        body=Command(command=command, exit_code=code, failed=code != 0),
        **(given | fields),
    )


@pytest.fixture
def remember(home: Home, observer: Observer) -> Callable[..., None]:
    """Start the daemon and store what ran."""

    def store(*events: Event) -> None:
        assert observer("up").returncode == 0
        client.call(home, "POST", "/import", msgspec.to_builtins(list(events)))

    return store


@pytest.mark.slow
@every_shell
def test_a_command_is_found_run_edited_or_left(
    shell: str, enter: Callable[[str], Terminal], remember: Callable[..., None]
) -> None:
    remember(
        ran(1, "echo al''pha beta"),
        ran(2, "gti status", exit_code=127),
        ran(3, "git status"),
        ran(4, "echo by-agent", author="agent", client="claude-code"),
        ran(5, "echo al''pha beta"),
        ran(6, MULTI),
    )
    shown = enter(shell)
    seen = shown.opens("4 commands", "gti status.*then worked: git status", "beta.*x2")
    assert "by-agent" not in seen
    assert "first part' \\\u23ce" in seen
    shown.keys("beta al''p")
    shown.shows("1 commands")
    shown.keys("Enter")
    shown.shows(r"(?m)^alpha beta$", but="Enter run")
    shown.opens("4 commands|5 commands")
    shown.keys("second", "Tab")
    shown.shows("'second part'", but="Enter run")
    shown.keys("Enter")
    shown.shows(r"(?m)^second part$")
    shown.keys("echo ke''pt")
    for leave in ("Escape", "C-c", "C-g"):
        shown.opens("echo ke''pt")
        shown.keys(leave)
        shown.shows(r"\$ echo ke''pt", but="Enter run")
    shown.keys("Enter")
    shown.shows("(?m)^kept$")


@pytest.mark.slow
def test_filters_change_by_keys_and_the_screen_follows_the_terminal(
    enter: Callable[[str], Terminal], remember: Callable[..., None], tmp_path: Path
) -> None:
    here = os.path.realpath(Path.cwd())
    old = replace_at(ran(5, "echo old"), now_ms() - 40 * 86_400_000)
    remember(
        ran(1, "echo here", cwd=here),
        ran(2, "echo broken", exit_code=3),
        ran(3, "echo far", host="another"),
        ran(4, "echo by-agent", author="agent", client="claude-code"),
        old,
    )
    shown = enter("bash")
    shown.opens("everywhere", "4 commands")
    for keys, state, there, gone in (
        ("C-r", "this host", "echo here", "echo far"),
        ("C-r", "this project", "", "echo broken|echo far"),
        ("C-r", "this folder", "echo here", "echo broken"),
        ("C-r", "everywhere", "echo old", "by-agent"),
        ("C-x", "failed", "!3 echo broken", "echo here"),
        ("C-x", "succeeded", "echo here", "echo broken"),
        ("C-x", "any end", "echo broken", "by-agent"),
        ("C-t", "last day", "echo here", "echo old"),
        ("C-o", "mine and agents'", "by-agent.*@claude-code", "echo old"),
        ("C-o", "agents' ", "by-agent", "echo here"),
    ):
        shown.keys(keys)
        shown.shows(state, there, but=gone)
    shown.tmux("resize-window", "-x", "40", "-y", "8")
    shown.shows("(?m)^Enter run  Tab edit  Esc leave  \\^R where")
    shown.keys("Down", "Up", "PPage", "nothing")
    shown.shows("nothing fits")
    shown.keys("C-u", "C-c")
    assert "by-agent" not in shown.is_back()


def replace_at(event: Event, at_ms: int) -> Event:
    return msgspec.structs.replace(event, at_ms=at_ms)


def picker() -> int:
    """Return the process that draws the screen."""
    for found in Path("/proc").glob("[0-9]*"):
        try:
            words = (found / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = os.environ["OBSERVER_HOME"].encode()
        if len(words) > 2 and words[1] == b"-IS" and words[2].startswith(ours):
            return int(found.name)
    raise AssertionError("no screen is drawn")


@every_shell
def test_without_a_daemon_it_is_the_shells_own_history_and_a_kill_harms_nothing(
    shell: str, enter: Callable[[str], Terminal]
) -> None:
    shown = enter(shell)
    for line in (" echo se''cret", "echo on''e", "echo tw''o"):
        shown.keys(line, "Enter")
    shown.shows("(?m)^one$", "(?m)^two$")
    seen = shown.opens("no daemon runs", "echo on''e")
    assert "se''cret" not in seen
    shown.keys("on''")
    shown.shows("1 commands")
    shown.keys("Enter")
    shown.is_back()
    assert shown.shows("(?m)^one$(.|\\n)*^one$")
    for number in (signal.SIGKILL, signal.SIGTERM):
        shown.opens("no daemon runs")
        os.kill(picker(), number)
        shown.is_back()
        shown.keys(f"echo af''ter {number}", "Enter")
        shown.shows(f"(?m)^after {int(number)}$")
        assert "-echo" not in stty(shown)


def stty(shown: Terminal) -> str:
    """Return how a program finds the terminal."""
    shown.keys("clear; stty -a; echo do''ne", "Enter")
    return shown.shows("(?m)^done$").replace("-echoprt", "").replace("-echonl", "")


@pytest.mark.slow
def test_hostile_text_is_shown_harmless_and_comes_back_as_it_was(
    enter: Callable[[str], Terminal], remember: Callable[..., None], home: Home
) -> None:
    texts = [one.encode("utf-8", "replace").decode().replace("\0", "") for one in HOSTILE]
    texts = [one for one in texts if len(one) < 10_000] + ["echo " + "x" * 1_000_000]
    remember(*(ran(at, f": {text}", cwd=f"/tmp/{text[:200]}") for at, text in enumerate(texts)))
    shown = enter("bash")
    seen = shown.opens(f"{len(texts)} commands")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f]", seen)
    assert len(seen.splitlines()) == 24
    shown.keys("half a char")
    shown.shows("1 commands")
    shown.keys("Tab")
    shown.shows(": . half a character", but="Enter run")
    shown.keys("C-u")
    shown.opens("commands")
    shown.keys("xxxxx")
    shown.shows("1 commands")
    # A text that was cut is never run, only put into the line.
    shown.keys("Enter")
    shown.shows(r"xxx\Z", but="Enter run")


@every_shell
def test_it_is_installed_when_asked_for_kept_and_taken_out_whole(
    shell: str, context: InstallContext, files: Files
) -> None:
    before = files()
    asked = replace(context, ctrl_r=True)
    assert not installed_parts(shell, context)
    for wanted, parts in (
        (context, ("hooks",)),
        (asked, ("hooks", "Ctrl-R")),
        (context, ("hooks", "Ctrl-R")),
        (replace(context, ctrl_r=False), ("hooks",)),
        (asked, ("hooks", "Ctrl-R")),
    ):
        perform(install(shell, wanted), context.home, at_ms=1)
        assert installed_parts(shell, context) == parts
    perform(uninstall(shell, context), context.home, at_ms=2)
    assert files() == before


def test_only_shells_bind_ctrl_r(within: Observer) -> None:
    refused = within("install", "git", "--ctrl-r")
    assert (refused.returncode, "name bash, zsh or fish" in refused.stderr) == (2, True)
    assert "ctrl-r.bash" in within("install", "bash", "--ctrl-r", "--dry-run").stdout
