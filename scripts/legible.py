"""What stands in a file of a home, packed or not, in whichever page of a database."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from observer.store.pages import salvaged
from observer.store.purging import packed_texts
from observer.store.rows import AROUND, EVENT_COLUMNS, event_json


def legible(path: Path) -> bytes:
    """Return the bytes of a file; those of a database are followed by what is packed in it."""
    if path.suffix != ".db":
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        # A daemon may shorten the file meanwhile, which ends whoever has it mapped.
        copy = Path(folder, path.name)
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        places = [EVENT_COLUMNS.index(name) for name in ("data", *AROUND)]
        rows = (row.values for row in salvaged(copy) if row.table == "event")
        events = (event_json(*(values[place] for place in places)) for values in rows)
        return b"\n".join((copy.read_bytes(), *events, *packed_texts(copy)))
