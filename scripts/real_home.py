"""What keeps tests out of the memory of whoever runs them, while a daemon may live and write there.

A stamp of the whole folder would blame the test for what the daemon and its hooks write. So it is
seen who does something:

- This process: each file, folder, socket or database below the home that it opens or changes.
- A child: one that is started with the home in its arguments or as its folder, with the user's
  home as its own, or with none, which Python then takes from the table of users.
- Whatever a grandchild does there on its own: an entry that neither daemon nor hooks write.
"""

from __future__ import annotations

import inspect
import os
import pwd
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from observer.core.paths import ENV_HOME, Home, home

_EVENTS = frozenset({
    "open", "os.chdir", "os.chmod", "os.chown", "os.link", "os.listdir", "os.mkdir", "os.remove",
    "os.rename", "os.rmdir", "os.scandir", "os.setxattr", "os.symlink", "os.truncate", "os.utime",
    "socket.bind", "socket.connect", "socket.sendto", "sqlite3.connect",
})  # fmt: skip
"""Python's audit events of which an argument is the path of what is touched."""
_STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})
_BY_PEOPLE = ("config", "llm_key", "models", "note_folders", "token")
"""What of a home neither a daemon that runs nor a hook writes; anything new is nobody's either."""


class Touched(AssertionError):
    """A test reached for the real home."""


class RealHome:
    """The homes that no test may touch, and what touched them.

    Args:
        users: homes of the user, each of which may hold a `.observer`.
        roots: homes of observer.
    """

    def __init__(self, users: Iterable[str], roots: Iterable[str]) -> None:
        self._users = frozenset(users)
        self._roots = sorted({*roots, *(os.path.realpath(root) for root in roots)})
        self._named = re.compile(rf"(?:{'|'.join(map(re.escape, self._roots))})(?![\w.-])")
        self._is_watched = False
        self._touches: list[str] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """See everything that this process does meanwhile; once in a process."""
        self._is_watched = True
        sys.addaudithook(self._seen)  # there is no way back
        # SQLite opens its files by itself.
        apsw.connection_hooks.append(lambda made: self._seen("open", (made.filename,)))
        yield
        self._is_watched = False

    def taken(self) -> list[str]:
        """Return what touched the homes since the last call, and forget it."""
        found, self._touches = self._touches, []
        return found

    def stamp(self) -> dict[str, int]:
        """Return the times, in nanoseconds, of what neither a daemon nor a hook writes."""
        watched, self._is_watched = self._is_watched, False
        found = {
            entry.path: entry.stat(follow_symlinks=False).st_mtime_ns
            for root in self._roots
            for entry in _entries(root)
            if not _BY_DAEMONS.fullmatch(entry.name)
        }
        self._is_watched = watched
        return found

    def _seen(self, event: str, args: Sequence[object]) -> None:
        if event in _EVENTS:
            what = next(filter(self._named.match, map(_text, args)), "")
        elif event in _STARTS:
            what = self._start(args)
        else:
            return
        if what and self._is_watched:
            self._touches.append(f"{event} {what}")
            raise Touched(f"the test touched the real home: {event} {what}")

    def _start(self, args: Sequence[object]) -> str:
        """Return how a child, by the arguments of its audit event, gets to a home; or nothing."""
        *words, given = args if isinstance(args[-1], Mapping) else (*args, None)
        shown = " ".join(map(_text, words))
        if self._named.search(shown):
            return shown
        environ = given if isinstance(given, Mapping) else os.environ
        user, root = (_text(environ.get(name, "")) for name in ("HOME", ENV_HOME))
        if user in self._users or self._named.match(root):
            return f"{shown} with HOME={user} {ENV_HOME}={root}"
        return "" if user or root else f"{shown} without a home of its own"


def real_home() -> RealHome:
    """Return the homes of this process's environment and of the table of users."""
    users = (os.path.expanduser("~"), pwd.getpwuid(os.getuid()).pw_dir)  # noqa: PTH111 - as text
    return RealHome(users, (str(home().root), *(f"{user}/.observer" for user in users)))


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return ()


def _text(value: object) -> str:
    """Return a path, a list of words or the address of a socket as text; numbers are none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | os.PathLike):
        return os.fsdecode(value)
    return " ".join(map(_text, value)) if isinstance(value, list | tuple) else ""


_ROOT = Home(Path("/"))
_NAMES = {
    name: getattr(_ROOT, name).parts[1]
    for name, value in inspect.getmembers(Home)
    if isinstance(value, property)
}
_KEPT = frozenset(map(_NAMES.get, _BY_PEOPLE))
_OTHERS = "|".join(re.escape(name) for name in _NAMES.values() if name not in _KEPT)
_BY_DAEMONS = re.compile(rf"\.?(?:{_OTHERS})(?:[.-].*)?|\.observer-.*", re.DOTALL)
"""Names of what daemons and hooks write, of drafts of it, and of what stands beside a database."""
