"""What the user wants nothing recorded of: folders, by whatever name an event calls them.

Step 5 of an event's way. A client may work beside such a folder and reach into it, and either may
be named through a link, so what counts is where the files really are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from observer.events import AnyBody, Custom, Event, FileChange, FileRead, FileWrite, Intent, Search
from observer.paths import is_inside


class Exclusion:
    """The folders, with everything below, of which nothing is recorded.

    `folders` are their real names.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        named = map(os.path.expanduser, folders)
        self.folders = tuple(map(os.path.realpath, named))

    def covers(self, event: Event, folder: str) -> bool:
        """Tell whether an event, which belongs to a folder, happened in one or names a file there.

        Relative paths count from where the client is.
        """
        if not self.folders:
            return False
        here = event.cwd or folder
        named = (str(Path(here, path)) for path in _files(event.body))
        return any(map(self.holds, (folder, *named)))

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
    return happening.files if isinstance(happening, Custom) else ()
