"""The sessions that `scripts/record` has kept, as importers find them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from observer.importers.source import sources

DATA = Path(__file__).parents[1] / "data"
SAMPLES = sorted(path.name for path in (DATA / "sessions").iterdir())


def reports(client: str) -> list[dict[str, Any]]:
    """Return what a client's hooks reported of its session."""
    text = (DATA / "recorded" / f"{client}.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["reports"]
    return found


def keep(client: str, home: Path) -> Path:
    """Put the files of a client's session below a user's home; return where it is looked for."""
    shutil.copytree(DATA / "sessions" / client, home, dirs_exist_ok=True)
    for script in home.rglob("*.db.sql"):
        script.with_suffix("").unlink(missing_ok=True)
        with closing(sqlite3.connect(script.with_suffix(""))) as database:
            database.executescript(script.read_text(encoding="utf-8"))
        script.unlink()
    source = sources()[client]
    return home / source.settings / source.sessions
