"""The context files that session-start hooks print: step 10 of an event's way.

A hook looks up from its folder to the first `CONTEXT.md` under the mirror of the path. Promises:
the files hold data and say so, memory cannot talk its way out of the fence, they are never larger
than any client takes, and a reader sees the old file or the new one, nothing between.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

from observer.config import Settings
from observer.front.documents import Documents
from observer.memory import Memory
from observer.model import Project
from observer.paths import Home, make_private

MOST_CHARACTERS = 10_000
"""Claude Code and Cursor cut longer context, or move it to a file that few models read."""
NAMES = ("CONTEXT.md", "CONTEXT.cursor.json")


def write(memory: Memory, project: Project, home: Home, settings: Settings) -> int:
    """Bring the files of every root of a project up to date; return how many were written.

    Files of a root that is gone, or of a project without memory, are removed.

    Raises:
        OSError: the home cannot be written.
    """
    tokens = min(settings.context_tokens, MOST_CHARACTERS // 4)
    text = Documents(memory, str).context(project, tokens=tokens)
    contents = (text.encode(), msgspec.json.encode({"additional_context": text}))
    written = 0
    for root in project.roots:
        folder = mirror(home, root)
        if not text or not Path(root).is_dir():
            _remove(folder, home)
            continue
        for name, content in zip(NAMES, contents, strict=True):
            written += _replace(folder / name, content)
    return written


def sweep(home: Home) -> int:
    """Remove the files of folders that do not exist any more; return how many."""
    top = home.context / "by-path"
    gone = [
        folder
        for file in top.rglob(NAMES[0])
        if not (Path("/") / (folder := file.parent).relative_to(top)).is_dir()
    ]
    for folder in gone:
        _remove(folder, home)
    return len(gone)


def mirror(home: Home, root: str) -> Path:
    """Return the folder that stands for an absolute path."""
    return home.context / "by-path" / root.lstrip("/")


def _replace(path: Path, content: bytes) -> bool:
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        _make_folders(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return True


def _make_folders(folder: Path) -> None:
    # mkdir's mode is for the last folder only, and every level shows a name of the user's.
    if not folder.is_dir():
        _make_folders(folder.parent)
        make_private(folder)


def _remove(folder: Path, home: Home) -> None:
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    top = home.context / "by-path"
    while folder != top and top in folder.parents:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:  # another project's files are in it
            return
        folder = folder.parent
