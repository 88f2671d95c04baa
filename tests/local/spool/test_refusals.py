"""The count of events that hooks could not write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.local import refusals
from observer.local.refusals import Refusals


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "refused"


def test_a_new_file_counts_nothing(path: Path) -> None:
    assert refusals.read(path) is None
    refusals.prepare(path)
    assert refusals.read(path) is None
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (64, 0o600)


def test_what_is_counted_stays_until_it_is_reset(path: Path) -> None:
    path.write_text(f"{'40 1763877000 1763877060':63}\n")
    refusals.prepare(path)
    assert refusals.read(path) == Refusals(40, 1_763_877_000_000, 1_763_877_060_000)
    refusals.reset(path)
    assert refusals.read(path) is None


@pytest.mark.parametrize("content", ["", "x y z", "4", f"{'9' * 60} 1 1", "0 1 1"])
def test_what_no_hook_wrote_counts_nothing(path: Path, content: str) -> None:
    path.write_text(content)
    assert refusals.read(path) is None


def test_a_fifo_is_no_count(path: Path) -> None:
    os.mkfifo(path)
    for look in (refusals.read, refusals.prepare):
        with pytest.raises(OSError, match="not a plain file"):
            look(path)
