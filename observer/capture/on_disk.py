"""The symbols of an edit whose client shows only the piece that changed: by the file on the disk.

The file may have changed since, but what an edit put there must still stand in it, once; what else
is other is on both sides of the comparison.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from observer.capture.symbol_changes import around, has_symbols, symbols_of
from observer.events import Event, FileWrite
from observer.paths import read_head

MOST_BYTES = 1 << 20


def with_symbols(event: Event) -> Event:
    """Return an event of an edit with the symbols that it changed, as far as the file shows it."""
    body = event.body
    if not isinstance(body, FileWrite) or body.symbols or body.error or not body.edits:
        return event
    path = Path(event.cwd, body.path)
    is_readable = path.is_absolute() and has_symbols(body.path)
    text = _text(path) if is_readable else None
    found = around(text, body.edits) if text else None
    symbols = symbols_of(body.path, *found) if found else None
    return replace(event, body=replace(body, symbols=symbols)) if symbols else event


def _text(path: Path) -> str | None:
    """Return the text of a file of usual size, None for anything else."""
    try:
        read = read_head(path, MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    return read.decode("utf-8", "replace") if len(read) <= MOST_BYTES else None
