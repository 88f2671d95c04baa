"""Where a text stands in the files of note folders: a purge leaves these as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from observer.core.errors import BadInput, NotFound
from observer.note_files import tree
from observer.note_files.folders import NoteFolder
from observer.note_files.places import FolderPlace


def places_holding(
    folders: Sequence[NoteFolder],
    text: re.Pattern[bytes],
    *,
    exclude: Sequence[str],
    now_ms: Callable[[], int],
) -> Iterator[str]:
    """Yield where a text stands in notes: `PATH:LINE`, or the path alone that holds it itself.

    A folder that is not there is yielded with the reason: nobody knows what is in it. What is not
    stored as a note is left out.
    """
    for folder in folders:
        place = FolderPlace(folder, exclude=exclude, now_ms=now_ms)
        try:
            found = tree.walk(folder.path, ignores=place.ignoring()).files
        except NotFound as error:
            yield error.message
            continue
        around = place.now()
        for path in found:
            if not place.excluding(around, path):
                yield from _lines(folder.path, path, text)


def _lines(folder: str, path: str, text: re.Pattern[bytes]) -> Iterator[str]:
    whole = f"{folder}/{path}"
    try:
        data, _ = tree.read(folder, path)
    except (NotFound, BadInput):  # it went meanwhile, and is not stored
        return
    if text.search(os.fsencode(path)):
        yield whole
    lines = (data.count(b"\n", 0, found.start()) + 1 for found in text.finditer(data))
    yield from (f"{whole}:{line}" for line in dict.fromkeys(lines))
