"""Make the homes of past commits that tests upgrade: `python scripts/old_homes.py [COMMIT...]`.

Each commit's own hooks, daemon and command line fill a home in a folder that is thrown away; its
database becomes `tests/data/homes/vN-COMMIT.db.xz`. Homes of releases are made the same way, by
their tags. What a commit of long ago imports must still be installed: that of today does.
"""

from __future__ import annotations

import json
import lzma
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = ROOT / "tests" / "data" / "homes"
COMMITS = (
    "b386ca37",  # schema 1, which later got vectors and numbered changes
    "34d30835",  # schema 5, in which 3 was still to come
    "442386db",  # schema 6; of 2, 3, 5 later forms were made under the same numbers
    "7975df9d",  # schema 7
    "c73f2e50",  # schema 8, before 3 and 7 were written in other words
    "549d4208",  # schema 9, likewise, with checksums
    "ef58d0ae",  # schema 9 as it is now
    "e5b56b8f",  # schema 10
    "8e94514a",  # schema 11
    "64d6e411",  # schema 14
    "f0548233",  # schema 15, which got another name and an index more
    "d6867fd0",  # schema 15 as it is now
)
SESSION = (
    ("UserPromptSubmit", {"prompt": "make the totals of invoices exact"}),
    (
        "PostToolUse",
        {
            "tool_name": "Write",
            "tool_use_id": "t1",
            "tool_input": {"file_path": "/srv/shop/totals.py", "content": "def total(): ...\n"},
            "tool_response": {"filePath": "/srv/shop/totals.py"},
        },
    ),
    (
        "PostToolUse",
        {
            "tool_name": "Bash",
            "tool_use_id": "t2",
            "tool_input": {"command": "pytest -q"},
            "tool_response": {"stdout": "3 passed in 0.30s", "stderr": "", "interrupted": False},
        },
    ),
    ("SessionEnd", {"reason": "exit"}),
)
NOTE = "Totals of invoices are rounded once, at the end."


def main() -> None:
    """Make the homes of the commits named, of all of them where none is."""
    HOMES.mkdir(parents=True, exist_ok=True)
    for commit in sys.argv[1:] or COMMITS:
        with tempfile.TemporaryDirectory() as folder:
            database = _filled(commit, Path(folder))
            _check(database)
            made = database.read_bytes()
            version = int.from_bytes(made[60:64])
            for former in HOMES.glob(f"v*-{commit}.db.xz"):
                former.unlink()
            target = HOMES / f"v{version:02}-{commit}.db.xz"
            target.write_bytes(lzma.compress(made, preset=9))
            print(f"{target.name}: {target.stat().st_size:,} bytes")


def _filled(commit: str, folder: Path) -> Path:
    """Return a database that the code of a commit has filled, with nothing left in its log."""
    source, home = folder / "source", folder / "home"
    source.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit, "observer", "hooks"], cwd=ROOT, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", source], input=packed.stdout, check=True)
    environ = os.environ | {"HOME": str(folder), "OBSERVER_HOME": str(home)}
    environ["PYTHONPATH"] = str(source)

    def observer(*words: str) -> None:
        argv = [sys.executable, "-P", "-m", "observer", *words]
        subprocess.run(argv, cwd=folder, env=environ, check=True, timeout=120)

    for event, fields in SESSION:
        payload = {"session_id": "s-1", "cwd": "/srv/shop", "hook_event_name": event, **fields}
        subprocess.run(
            [source / "hooks" / "post", "claude-code", event],
            cwd=folder,
            env=environ,
            input=json.dumps(payload).encode(),
            check=True,
        )
    observer("up")
    try:
        observer("remember", NOTE)
    finally:
        observer("down")
    return home / "observer.db"


def _check(database: Path) -> None:
    """Check that the log holds what was reported, and the file all of the log."""
    if database.with_name(f"{database.name}-wal").exists():
        sys.exit(f"{database} was not closed")
    with sqlite3.connect(f"file:{database}?immutable=1", uri=True) as connection:
        ((events,),) = connection.execute("SELECT count(*) FROM event").fetchall()
    if events < len(SESSION):
        sys.exit(f"{database} has {events} events")


if __name__ == "__main__":
    main()
