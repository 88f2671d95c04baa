"""What was written is asked of the disk itself, by the call that the system has for it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from observer.core.paths import flush


@pytest.mark.parametrize(
    "request_number", [None, fcntl.F_GETFD, 10_000], ids=["Linux", "macOS", "a disk without it"]
)
def test_a_file_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_number: int | None
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    if request_number is None:
        monkeypatch.delattr(fcntl, "F_FULLFSYNC", raising=False)
    else:
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", request_number, raising=False)
    with (tmp_path / "file").open("wb") as file:
        flush(file.fileno())
        assert bool(synced) == (request_number != fcntl.F_GETFD)
