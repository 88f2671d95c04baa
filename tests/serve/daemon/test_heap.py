from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from observer.local import client
from observer.serve.index import forget_code, give_memory_back

ASKING = """
import resource, threading
import numpy as np
def ask():
    for _ in range(20):
        np.ones(1_000_000, np.float32)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    ask()
    before = faults()
    ask()
    print(faults() - before)
worker = threading.Thread(target=work)
worker.start()
worker.join()
"""
"""What a search does in a thread of the daemon: it needs 4 MB for a moment, and tells the pages."""


class Libc:
    """A C library whose `malloc_trim` tells that it was called, or that has none."""

    def __init__(self, *, has_trim: bool) -> None:
        self.asked: list[int] = []
        if has_trim:
            self.malloc_trim = self.asked.append


@pytest.mark.parametrize(("has_trim", "asked"), [(True, [0]), (False, [])])
def test_the_allocator_is_asked_where_it_can_be(
    monkeypatch: pytest.MonkeyPatch, has_trim: bool, asked: list[int]
) -> None:
    libc = Libc(has_trim=has_trim)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: libc)
    give_memory_back()
    assert libc.asked == asked


def test_what_every_question_needs_for_a_moment_is_not_lent_anew() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", ASKING],
        env=os.environ | client.MEMORY,
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(shown.stdout) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_that_does_not_run_is_not_in_memory() -> None:
    before_kib = _resident_kib("RssFile")
    forget_code()
    assert _resident_kib("RssFile") < before_kib


def test_where_nothing_says_what_is_mapped_nothing_is_done(tmp_path: Path) -> None:
    before_kib = _resident_kib("RssFile")
    forget_code(tmp_path / "maps")
    assert _resident_kib("RssFile") >= before_kib


def _resident_kib(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))
