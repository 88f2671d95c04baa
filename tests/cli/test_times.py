"""Times have the names and the form in JSON that the tools give them: `..._at`, ISO 8601."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.clock import iso_ms
from observer.core.paths import Home
from observer.notes.folders.folders import NoteFolder
from observer.notes.folders.writing import NoteVersions
from tests.importers.played import fixed_bug

Run = Callable[..., Any]
Fill = Callable[..., None]
DURATIONS = {"uptime_ms", "duration_ms"}


def named(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each field of JSON with its value."""
    for each in value if isinstance(value, list) else []:
        yield from named(each)
    for name, each in value.items() if isinstance(value, dict) else []:
        yield name, each
        yield from named(each)


def test_a_change_of_a_note_folder_has_its_time_too(run: Run, filled: Home, home: Home) -> None:
    folder = NoteFolder(name="vault", path=str(home.root))
    NoteVersions(home, lambda: 0).keep(folder, "A.md", b"x", "replaced")
    shown = run("note", "folder", "history", "--json").json
    assert [each["created_at"] for each in shown] == ["1970-01-01T00:00:00.000Z"]
    assert "at_ms" not in shown[0]


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("status", "last_stored_at"),
        ("status --space", "newest_at"),
        ("pause", "started_at"),
        ("install --list", "last_at"),
        ("import claude-code --dry-run", "first_at"),
        ("sessions", "last_at"),
        ("search", "created_at"),
        ("today", "since"),
    ],
)
def test_a_time_is_iso_8601_under_a_name_that_tools_use(
    run: Run, filled: Home, fill: Fill, app: Path, line: str, time: str
) -> None:
    fixed_bug(app, "old").write(Path(os.environ["HOME"]) / ".claude/projects/-app")
    fill([{"kind": "command", "command": "make", "client": "codex", "cwd": str(app)}])
    fields = list(named(run(*line.split(), "--json").json))
    assert [name for name, _ in fields if name.endswith("_ms") and name not in DURATIONS] == []
    assert [value for name, value in fields if name == time and iso_ms(str(value))]
