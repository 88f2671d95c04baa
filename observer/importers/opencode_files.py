"""OpenCode before it had a database: a file for each session, message and part below `storage`.

    storage/session/PROJECT/SESSION.json
    storage/message/SESSION/MESSAGE.json
    storage/part/MESSAGE/PART.json

What `opencode export` prints is one file with all of it: `info`, and `messages` with their parts.
The format is the client's own and undocumented; read as others have described it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, rows, text
from observer.importers.jsonl import Problems, read_object

ENDING = ".json"
_SESSIONS = ("storage/session/*/*.json", "session/*/*.json")


def files(path: Path) -> Iterator[Path]:
    """Yield a file of a session, or those below the client's folder or its `storage`.

    Exported sessions lie in whatever folder, under whatever name.
    """
    if is_text(path):
        yield path
    for file in sorted(path.glob(f"*{ENDING}")):
        whole = read_object(file, Problems()) or {}
        if "info" in whole and "messages" in whole:
            yield file
    for pattern in _SESSIONS:
        yield from sorted(path.glob(pattern))


def is_text(path: Path) -> bool:
    """Return True for a file of JSON, not a database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def session(path: Path, problems: Problems) -> dict[str, Json]:
    """Return a session as a row of the database would have it."""
    whole: Object = read_object(path, problems) or {}
    found = inner(whole, "info") or whole
    times = inner(found, "time")
    return {
        "id": text(found, "id"),
        "parent_id": found.get("parentID"),
        "directory": found.get("directory"),
        "time_created": (created := times.get("created", found.get("createdAt"))),
        "time_updated": times.get("updated", found.get("updatedAt", created)),
    }


def messages(path: Path, problems: Problems) -> Iterator[tuple[Object, list[Json]]]:
    """Yield the messages of a session, each with its parts in order."""
    whole: Object = read_object(path, Problems()) or {}
    if "info" in whole:
        for one in rows(whole, "messages"):
            yield inner(one, "info"), [dict(part) for part in rows(one, "parts")]
        return
    storage = path.parents[2]
    for file in sorted(storage.glob(f"message/{path.stem}/*{ENDING}")):
        if message := read_object(file, problems):
            parts = sorted(storage.glob(f"part/{file.stem}/*{ENDING}"))
            known = (read_object(part, problems) for part in parts)
            yield {**message, "id": file.stem}, [part for part in known if part]
