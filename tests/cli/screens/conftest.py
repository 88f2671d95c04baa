"""A terminal of tmux, on which programs run as they do for a person."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import Until, put_file

ROOT = Path(__file__).parents[3]
PROMPT = "ready>"


class Tmux:
    """One window with a program in it; all of it ends with the test."""

    def __init__(self, folder: Path, until: Until, *program: str, size: str = "80x24") -> None:
        if not shutil.which("tmux"):
            pytest.skip("tmux is not installed")
        self._words = ["tmux", "-S", str(folder / "t"), "-f", "/dev/null"]
        self._until = until
        columns, lines = size.split("x")
        bin_ = folder / "bin"
        bin_.mkdir()
        put_file(bin_ / "observer", f'#!/bin/sh\nexec {sys.executable} -m observer "$@"\n')
        environ = os.environ | {"PYTHONPATH": str(ROOT), "PS1": f"{PROMPT} ", "LANG": "C.UTF-8"}
        environ |= {"COLUMNS": columns, "LINES": lines}
        environ |= {"PATH": f"{bin_}:{os.environ['PATH']}"}
        start = ["new-session", "-d", "-x", columns, "-y", lines, *program]
        subprocess.run([*self._words, *start], check=True, env=environ)

    def run(self, *words: str) -> str:
        done = subprocess.run([*self._words, *words], check=True, capture_output=True, text=True)
        return done.stdout.rstrip("\n")

    @property
    def text(self) -> str:
        return self.run("capture-pane", "-p")

    def type(self, *keys: str) -> None:
        for key in keys:
            self.run("send-keys", *(("--", key) if len(key) > 1 else ("-l", key)))

    def shows(self, *texts: str) -> str:
        return self._waited(lambda: all(text in self.text for text in texts), texts)

    def is_back(self) -> None:
        """Wait until the shell asks for the next command."""
        self._waited(lambda: self.text.rstrip().endswith(PROMPT), (PROMPT,))

    def shows_beside(self, *texts: str) -> None:
        """Wait until all of some texts stand in one line."""
        self._waited(
            lambda: any(all(text in line for text in texts) for line in self.text.split("\n")),
            texts,
        )

    def _waited(self, holds: Callable[[], bool], texts: tuple[str, ...]) -> str:
        try:
            self._until(holds)
        except AssertionError:
            pytest.fail(f"not all of {texts} is shown in:\n{self.text}")
        return self.text

    def modes(self) -> str:
        """The other screen, the mouse, the cursor: what a program has to give back."""
        return self.run("display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}")

    def children(self) -> list[int]:
        """The shell, and the processes that it waits for."""
        shell = self.run("display", "-p", "#{pane_pid}")
        listed = Path(f"/proc/{shell}/task/{shell}/children").read_text()
        return [int(shell), *map(int, listed.split())]

    def end(self) -> None:
        running = [Path(f"/proc/{one}/cmdline") for one in self.children()]
        self.run("kill-server")
        self._until(lambda: not any(one.exists() and one.read_bytes() for one in running))


@pytest.fixture
def tmux(tmp_path: Path, until: Until) -> Iterator[Callable[..., Tmux]]:
    open_: list[Tmux] = []

    def start(*program: str, size: str = "80x24") -> Tmux:
        open_.append(Tmux(tmp_path, until, *program, size=size))
        return open_[-1]

    yield start
    for one in open_:
        one.end()
