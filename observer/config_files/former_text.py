"""What a file held before we changed it, to the byte, for as long as nobody else has changed it.

A removal takes our entries out of a text. It cannot know the blanks that an empty list had, whether
the list was there at all, or the file; the copy that was made before the change does.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from observer.config_files.file_edits import FileEdit, copy_name, digest, read


def as_it_was(edit: FileEdit, backups: Path, *, ours: Collection[bytes]) -> FileEdit:
    """Return a removal that gives a file back as it was, if it is still what we made of it.

    Args:
        edit: the removal.
        backups: where the copies are.
        ours: texts one of which stands in each of our entries. A copy that has other entries of
            ours than the removal leaves, for another client or home, is passed over.
    """
    if not edit.is_change or edit.before is None:
        return edit
    left = _entries(edit.after, ours)
    for former in _former(edit.path, edit.before, backups):
        if _entries(former, ours) == left:
            return replace(edit, after=former)
    return edit


def _former(path: Path, content: bytes, backups: Path) -> Iterator[bytes]:
    """Yield what a content was made of, and what that was made of, as far as there are copies."""
    seen: set[bytes] = set()
    while content not in seen:
        seen.add(content)
        copies = sorted(backups.glob(f"*-*-{glob.escape(copy_name(path, content))}"))
        former = read(copies[-1]) if copies else None
        # Secrets may have been redacted in the copy, and must not be lost in the file.
        if former is None or copies[-1].name.split("-")[1] != digest(former):
            return
        yield former
        content = former


def _entries(content: bytes | None, ours: Collection[bytes]) -> Counter[bytes]:
    lines = ((line.strip(b" \t\r,")) for line in (content or b"").split(b"\n"))
    return Counter(line for line in lines if any(one in line for one in ours))
