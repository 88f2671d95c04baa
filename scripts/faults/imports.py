"""What is fuzzed, continued: importers, each with a file or with rows of a store that it reads."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache, partial
from pathlib import Path

from faults.promise import promised
from observer.core.config import Settings
from observer.importers.source import Problems, sources

SESSIONS = Path(__file__).parents[2] / "tests/data/sessions"
CLIENTS = sorted(path.name for path in SESSIONS.iterdir())
_AT = "2026-05-28T20:26:00Z"
FILES: Mapping[str, str] = {
    "bash": "ls\n#1780000000\nmake\nall\n#1780000001\nls\n",
    "zsh": ": 1780000000:3;echo a\\\nb\nls\n",
    "fish": "- cmd: echo a\\nb\n  when: 1780000000\n- cmd: ls\n",
    "mem0": json.dumps({"results": [{"id": "a", "memory": "Tabs.", "created_at": _AT}]}),
    "agentmemory": json.dumps({"memories": [
        {"id": "a", "type": "fact", "title": "T", "content": "C", "updatedAt": _AT,
         "concepts": ["style"], "isLatest": True},
    ]}),
}  # fmt: skip
"""What each importer finds in the file that it is given."""


def fuzzed(name: str) -> tuple[Callable[[bytes], object], Callable[[], list[bytes]]]:
    """Return what reads bytes with an importer, and bytes that it can read."""
    if name in FILES:
        return partial(_file, name), lambda: [FILES[name].encode()]
    if _is_database(name):
        return partial(_rows, name), lambda: [_parts(name)]
    return partial(_session, name), lambda: [_path(name).read_bytes()[:19_000]]


def _read(name: str, path: Path) -> None:
    """Read all that an importer finds, twice: what it finds again must be known by its id."""
    source, problems = sources()[name], Problems()
    for session in source.find([path], problems):
        events = list(source.read(session, Settings(), problems))
        promised(all(event.at_ms >= 0 for event in events), "a time before all times")
        again = list(source.read(session, Settings(), problems))
        promised(again == events, "other events when it was read again")


def _file(name: str, data: bytes) -> None:
    path = _folder() / name
    path.write_bytes(data)
    _read(name, path)


def _session(name: str, data: bytes) -> None:
    """Read a session one file of which holds other bytes."""
    _path(name).write_bytes(data)
    _read(name, _laid(name))


def _rows(name: str, data: bytes) -> None:
    """Read a session of which the parts hold other JSON, a line each."""
    database = next(_laid(name).rglob("*.db"))
    lines = data.decode("utf-8", "replace").splitlines()
    with closing(sqlite3.connect(database)) as opened, opened:
        keys = [row[0] for row in opened.execute("SELECT rowid FROM part ORDER BY rowid")]
        opened.executemany(
            "UPDATE part SET data = ? WHERE rowid = ?", zip(lines, keys, strict=False)
        )
    _read(name, database)


def _parts(name: str) -> bytes:
    with closing(sqlite3.connect(next(_laid(name).rglob("*.db")))) as opened:
        rows = opened.execute("SELECT data FROM part ORDER BY rowid").fetchall()
    return "\n".join(text for (text,) in rows).encode()


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="observer-fuzz-"))


@cache
def _laid(name: str) -> Path:
    """Return a folder with the recorded session of a client."""
    laid = _folder() / f"{name}-session"
    shutil.copytree(SESSIONS / name, laid)
    for script in laid.rglob("*.db.sql"):
        with closing(sqlite3.connect(script.with_suffix(""))) as database:
            database.executescript(script.read_text(encoding="utf-8"))
    return laid


@cache
def _path(name: str) -> Path:
    """Return the file of a session that holds the most."""
    return max(
        (path for path in _laid(name).rglob("*.json*")), key=lambda path: path.stat().st_size
    )


def _is_database(name: str) -> bool:
    return any((SESSIONS / name).rglob("*.db.sql"))
