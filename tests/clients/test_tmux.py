"""Shells as a person uses them: in tmux, from the rc file, with keys that edit and interrupt."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.envelope import parse
from observer.clients.shelf.shells import read
from observer.core.events import Command
from observer.local.spool import Spool
from tests.support import Until

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
FAILS, WAITS = "sh -c 'exit 3'", "sleep 60"
PASTED = "echo 'a\nb' done"

Tmux = Callable[..., str]


def recorded(context: InstallContext) -> list[tuple[str, int | None]]:
    """Return the commands that wait in the spool, with their exit codes."""
    reports = (parse(*entry[:3]) for entry in Spool(context.home.spool).claim(at_most=100))
    bodies = [event.body for report in reports for event in read(report, {})]
    return [(body.command, body.exit_code) for body in bodies if isinstance(body, Command)]


@pytest.fixture
def tmux(context: InstallContext) -> Iterator[Tmux]:
    """Run commands of a tmux server of its own, in the home of the context."""
    here = {**context.environ, "HOME": str(context.user_home), "TERM": "xterm-256color"}
    with tempfile.TemporaryDirectory() as folder:  # the name of a socket cannot be long
        words = ["tmux", "-S", f"{folder}/s", "-f", os.devnull]

        def run(*command: str) -> str:
            done = subprocess.run(
                [*words, *command],
                env=here,
                check=False,
                capture_output=True,
                text=True,
                timeout=30,
            )
            return done.stdout.strip()

        yield run
        run("kill-server")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_typed_recalled_interrupted_and_pasted_is_recorded(
    shell: str,
    context: InstallContext,
    put: Callable[[str], object],
    tmux: Tmux,
    until: Until,
) -> None:
    put(shell)
    program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
    tmux("new-session", "-d", "-x", "80", "-y", "24", program)
    tmux("send-keys", FAILS, "Enter")
    until(lambda: len(recorded(context)) == 1)
    tmux("send-keys", "Up", "Enter")
    until(lambda: len(recorded(context)) == 2)
    tmux("send-keys", WAITS, "Enter")
    until(lambda: tmux("display-message", "-p", "#{pane_current_command}") == "sleep")
    tmux("send-keys", "C-c")
    until(lambda: len(recorded(context)) == 3)
    tmux("set-buffer", PASTED)
    tmux("paste-buffer", "-p")  # as one text where the shell knows how to take that
    tmux("send-keys", "Enter")
    until(lambda: len(recorded(context)) == 4)
    assert recorded(context) == [(FAILS, 3), (FAILS, 3), (WAITS, 130), (PASTED, 0)]
