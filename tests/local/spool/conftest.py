"""Files that the system does not give."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.local.spool import Spool


@pytest.fixture
def spool(home: Home) -> Spool:
    spool = Spool(home.spool)
    spool.prepare()
    return spool


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the system fail to open a file, as a broken medium makes it."""
    opened = os.open

    def spoil(path: Path, number: int = errno.EIO) -> None:
        def spoilt(name: Any, *given: Any, **named: Any) -> int:
            if os.fspath(name) == str(path):
                raise OSError(number, os.strerror(number), str(path))
            return opened(name, *given, **named)

        monkeypatch.setattr(os, "open", spoilt)

    return spoil
