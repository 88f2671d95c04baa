"""Folders that are gone, or of another system: how they are spelled here, and what they stand for.

A folder of Windows has one spelling there and others in WSL, Git Bash and Cygwin; one of WSL has
another one in Windows. All are compared as WSL spells them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.core.paths import is_inside
from observer.projects.fs_probe import non_project_dirs

_DRIVE = re.compile(r"(?:([A-Za-z]):|/(?:mnt/|cygdrive/)?([A-Za-z]))(?=/|$)")
_SHARE = re.compile(r"//wsl(?:\$|\.localhost)/[^/]+(?=/|$)", re.IGNORECASE)
_OF_WINDOWS = re.compile(r"/?[A-Za-z]:[\\/]|[\\/]{2}wsl(?:\$|\.localhost)[\\/]", re.IGNORECASE)
"""How paths begin that only Windows spells so; with a slash in front in a `file:` address."""
_HOMES = re.compile(
    r"(?:/mnt/[a-z])?/(?:home|users)(?:/[^/]*)?|/mnt(?:/[a-z])?|/root|/", re.IGNORECASE
)
"""Folders of people, and what lies above them: never a project."""


def local_spelling(folder: str) -> str:
    r"""Return a folder as WSL spells it: `C:\src` as `/mnt/c/src`; others as they are."""
    if "\\" in folder and not folder.startswith("/"):
        folder = folder.replace("\\", "/")
    folder = _SHARE.sub("", folder, count=1)
    if found := _DRIVE.match(folder):
        folder = f"/mnt/{(found[1] or found[2]).lower()}{folder[found.end() :]}"
    return folder.rstrip("/") or folder


def from_windows(path: str) -> str:
    r"""Return a path that only Windows spells so as WSL does (`C:\src\a.py`, `\\wsl$\Ubuntu\src`).

    All other paths stay as they are, `/c/src` of Git Bash too: here it may be a folder.
    """
    if not _OF_WINDOWS.match(path):
        return path
    return local_spelling(path[1:] if path[2:3] == ":" else path)


def is_same_or_inside(folder: str, root: str) -> bool:
    """Return True if a folder is a root or below it; Windows knows no case."""
    if root.startswith("/mnt/"):
        return is_inside(folder.casefold(), root.casefold())
    return is_inside(folder, root)


def gone_root(folder: str, roots: Iterable[str]) -> str:
    """Return the folder of the project that a missing folder was in; "" if it was in none.

    That is where the session was started, or the folder itself; a work tree in a hidden folder
    belongs to what is around that.
    """
    root = next((one for one in roots if is_same_or_inside(folder, one)), folder)
    root = root.partition("/.")[0]
    is_home = _HOMES.fullmatch(root) or root in non_project_dirs()
    return "" if is_home or not root.startswith("/") else root
