"""What the user wants nothing recorded of: folders, by whatever name an event calls them.

Step 5 of an event's way. A client may work beside such a folder and reach into it, and either may
be named through a link, so what counts is where the files really are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from observer.events import (
    AnyBody,
    Command,
    Custom,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Search,
    ToolUse,
)
from observer.paths import is_inside

_WORD = re.compile(r"[^\s'\"`|&;()<>{}=,:$]+")


def words_of(text: str) -> list[str]:
    """Return the words of a command line or a text that may name files."""
    return list(map(os.path.expanduser, _WORD.findall(text)))


class Exclusion:
    """The folders, with everything below, of which nothing is recorded.

    `folders` are their real names.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        named = map(os.path.expanduser, folders)
        self.folders = tuple(map(os.path.realpath, named))

    def applied(self, event: Event, folder: str) -> Event | None:
        """Return what may be recorded of an event that belongs to a folder, None if nothing may.

        Relative paths count from where the client is. A call that names an excluded file keeps its
        place without its input, since the next result is paired with it; and a result that comes
        without its call may be of any file, so that what it says is left out.
        """
        if not self.folders:
            return event
        if self.holds(folder):
            return None
        body = event.body
        here = event.cwd or folder
        if isinstance(body, Outcome):
            return replace(event, body=replace(body, output=""))
        if not any(self.holds(str(Path(here, path))) for path in _files(body)):
            return event
        if not isinstance(body, Intent):
            return None
        return replace(event, body=replace(body, of=ToolUse(tool=body.tool)))

    def beside(self, files: tuple[FileChange, ...], root: str) -> tuple[FileChange, ...]:
        """Return the files of a commit that are in none of them, and were not."""
        if not self.folders:
            return files
        return tuple(
            file
            for file in files
            if not any(self.holds(f"{root}/{path}") for path in (file.path, file.old_path) if path)
        )

    def holds(self, path: str) -> bool:
        """Return True if a file really lies in one of the folders, or is one."""
        try:
            real = os.path.realpath(path)
        except ValueError:  # NUL or lone surrogates: no file
            return False
        return any(is_inside(real, folder) for folder in self.folders)


def _files(body: AnyBody) -> tuple[str, ...]:
    """Return the files and folders whose content a happening tells of."""
    happening = body.of if isinstance(body, Intent) else body
    if isinstance(happening, FileWrite | Search):
        return (happening.path,)
    if isinstance(happening, FileRead):
        return happening.paths
    if isinstance(happening, Command):
        return tuple(words_of(happening.command))
    return happening.files if isinstance(happening, Custom) else ()
