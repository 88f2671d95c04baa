"""Upkeep of the whole memory, as a person at a terminal sees it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from observer.core.paths import Home
from observer.spool.spool import Spool

Run = Callable[..., Any]


def _on_a_terminal(*words: str) -> tuple[str, str]:
    """Return what a command prints into a pipe, and what its user sees of it besides."""
    ours, theirs = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-m", "observer", *words],
        check=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
    )
    seen = os.read(ours, 100_000)
    os.close(ours)
    os.close(theirs)
    return ran.stdout.decode(), seen.decode()


def test_a_rebuild_shows_how_far_it_has_come(filled: Home) -> None:
    printed, seen = _on_a_terminal("rebuild")
    assert printed == "rebuilt from 3 events\n"
    assert "rebuilding" in seen
    assert "3/3" in seen


def test_what_was_not_understood_is_read_again(run: Run, home: Home) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    spool.append({"client": "testbed", "event": "none"})
    (entry,) = spool.claim(at_most=5)
    spool.quarantine(entry, reason="no such client", kept=entry.data)
    assert run("retry").out == "1 event put back into the queue\n"
    assert json.loads(run("retry", "--json").out) == {"events": 0}
    assert (spool.depth(), spool.bad()) == (1, 0)


def test_a_rebuild_shows_no_progress_to_a_script(run: Run, filled: Home) -> None:
    ran = run("rebuild")
    assert (ran.out, ran.err) == ("rebuilt from 3 events\n", "")
