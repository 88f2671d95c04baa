"""memex: the notes of its database, or of a backup of it, become notes under their own ids.

Seen in its schema of 2026. Notes of other programs that it only reads (`external`) are left out,
since their files belong elsewhere. A rule waits for a person, approved there or not: whoever can
write a file must not make rules by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from observer.clients.envelope import Object
from observer.clients.payload import parsed, text, words
from observer.core import json_text
from observer.core.config import Settings, owner
from observer.core.events import Event, Layer, Remember
from observer.importers.database import files_of, opened
from observer.importers.jsonl import Problems
from observer.importers.source import FoundSession, SessionSource
from observer.importers.words import Origin, event_of, files_matching, moment_ms

NAME = "memex"
_LAYERS = ("past", "state", "rule")


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the databases that have notes."""
    found = []
    for path in dict.fromkeys(file for one in paths for file in files_matching(one, "*.db")):
        times = [at_ms for _, at_ms in _notes(path, problems)]
        if times:
            size = path.stat().st_size
            found.append(FoundSession(str(path), files_of(path), "", min(times), max(times), size))
    return found


def read(found: FoundSession, settings: Settings, problems: Problems) -> Iterator[Event]:
    """Yield the notes of a database, as they are there now."""
    for row, at_ms in _notes(found.paths[0], problems):
        layer = text(row, "layer")
        body = Remember(
            content=text(row, "content"),
            title=text(row, "title"),
            type="rule" if layer == "rule" else "fact",
            key=f"{NAME}:{row.get('id')}",
            category=text(row, "category"),
            scope="personal",
            owner=owner(settings),
            layer=cast("Layer", layer),
            tags=words({"tags": parsed(text(row, "tags"))}, "tags"),
            confidence=None,
            metadata=json_text.dump({"source": text(row, "source")}).decode(),
        )
        made = event_of(Origin(NAME), body, at_ms, str(row.get("id")), body.title, body.metadata)
        is_persons = text(row, "author") == "person" and layer != "rule"
        yield replace(made, author="person") if is_persons else made


def _notes(path: Path, problems: Problems) -> Iterator[tuple[Object, int]]:
    """Yield the notes with the time when each was written."""
    with opened(path, problems) as database:
        for row in database.rows("notes") if database else ():
            times = (moment_ms(row.get(name)) for name in ("authored_at", "created_at"))
            at_ms = next(filter(None, times), None)
            if at_ms is None:
                problems.add("note without a time", path)
            elif text(row, "layer") in _LAYERS and text(row, "content").strip():
                yield row, at_ms


MEMEX = SessionSource(NAME, ".memex", "", "memex.db", find=find, read=read, is_of_sessions=False)
