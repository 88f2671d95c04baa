"""The symbols of an edit whose client shows only the piece that changed: by the file on the disk.

The file may have changed since, but what an edit put there must still stand in it, once; what else
is other is on both sides of the comparison.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec.structs import replace

from observer.capture.symbol_changes import around, symbols_of
from observer.events import Event, FileWrite

MOST_BYTES = 1 << 20


def with_symbols(event: Event) -> Event:
    """Return an event of an edit with the symbols that it changed, as far as the file shows it."""
    body = event.body
    if not isinstance(body, FileWrite) or body.symbols or body.error or not body.edits:
        return event
    path = Path(event.cwd, body.path)
    text = _text(path) if path.is_absolute() else None
    found = around(text, body.edits) if text else None
    symbols = symbols_of(body.path, *found) if found else None
    return replace(event, body=replace(body, symbols=symbols)) if symbols else event


def _text(path: Path) -> str | None:
    """Return the text of a file of usual size, None for anything else."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # no pipe can block
    except (OSError, ValueError):
        return None
    try:
        told = os.fstat(opened)
        if not stat.S_ISREG(told.st_mode) or told.st_size > MOST_BYTES:
            return None
        return os.read(opened, MOST_BYTES).decode("utf-8", "replace")
    finally:
        os.close(opened)
