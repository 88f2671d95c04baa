"""Texts for people."""

from __future__ import annotations

import shlex
import sys

from observer.core.text import extra_hint


def test_an_extra_is_installed_where_this_runs() -> None:
    python, *words = shlex.split(extra_hint("tui"))
    assert (python, words) == (sys.executable, ["-m", "pip", "install", "observer-memory[tui]"])
