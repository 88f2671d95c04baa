"""Memory URLs: `memory://` in front of what names a note, or of a pattern of permalinks. Pure."""

from __future__ import annotations

import re
from fnmatch import translate

from observer.core.errors import BadInput

SCHEME = "memory://"
MAX_CHARS = 2_028
_FORBIDDEN = re.compile(r'[<>"|?\x00-\x1f]')


def named_by(text: str) -> str:
    """Return what a URL or a plain identifier names, without the scheme and outer slashes.

    A plain identifier may be a title, which has whatever characters it likes.

    >>> [named_by(text) for text in ("memory://specs/search/", "Who pays?")]
    ['specs/search', 'Who pays?']

    Raises:
        BadInput: it is empty, leads out of its folder, or begins like a memory URL but is none.
    """
    plain = text.strip()
    if leaves_folder(plain):
        raise BadInput(
            f"{plain[:80]!r} is not allowed: paths must stay within project boundaries",
            hint="name a path inside the note folder",
        )
    if plain.startswith(SCHEME) or not plain.strip("/ "):
        return checked(plain)
    return plain.strip("/ ")


def checked(text: str) -> str:
    """Return what a memory URL names, also where its scheme is left out; otherwise as `named_by`.

    Raises:
        BadInput: it is not a memory URL, is empty, or leads out of its folder.
    """
    path = text.strip().removeprefix(SCHEME)
    problem = ""
    if not path.strip("/ "):
        problem = "it names nothing"
    elif len(text) > MAX_CHARS:
        problem = f"it has more than {MAX_CHARS} characters"
    elif "://" in path:
        problem = "it is an address of another kind"
    elif "//" in path:
        problem = "it has an empty part"
    elif found := _FORBIDDEN.search(path):
        problem = f"it contains {found[0]!r}"
    elif leaves_folder(path):
        problem = "paths must stay within project boundaries"
    if problem:
        raise BadInput(
            f"{text[:80]!r} is not a memory URL: {problem}",
            hint="write memory://FOLDER/NOTE, or memory://FOLDER/* for all of a folder",
        )
    return path.strip("/ ")


def leaves_folder(path: str) -> bool:
    """Return True if a path is absolute or climbs out of the folder that it is relative to.

    >>> [leaves_folder(path) for path in ("a/b", "../a", "a/../b", "/etc", "~/x", "C:/x")]
    [False, True, True, True, True, True]
    """
    parts = re.split(r"[/\\]", path)
    is_drive = re.match(r"[A-Za-z]:[/\\]", path) is not None
    return path.startswith(("/", "\\", "~/")) or ".." in parts or is_drive


def is_pattern(name: str) -> bool:
    """Return True if a name stands for all permalinks of a pattern: it holds a ``*``."""
    return "*" in name


def matcher(pattern: str) -> re.Pattern[str]:
    """Return what matches the permalinks of a pattern; ``*`` stands for any text, slashes too.

    >>> bool(matcher("specs/*").fullmatch("specs/a/b"))
    True
    """
    return re.compile(translate(pattern.replace("[", "[[]").replace("?", "[?]")), re.IGNORECASE)
