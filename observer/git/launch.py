"""Starting git: the only module that does.

By its absolute path, without a shell, in a process group of its own that can be ended as a whole.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import IO

from observer.errors import NotFound

WAIT_S = 30.0
"""Longest wait for an answer, or for the next part of one."""


def launch(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: str = "/",
    reads: int = subprocess.DEVNULL,
    errors: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git, found by the PATH in `environ`; whoever starts it ends it, by `kill`.

    Raises:
        NotFound: git is not installed.
        OSError: it cannot be started, or the folder is gone.
        ValueError: a word cannot be passed (NUL).
    """
    return subprocess.Popen(  # noqa: S603 - no shell; what is not ours stands behind options
        [executable(environ.get("PATH")), *words],
        cwd=folder,
        env=environ,
        stdin=reads,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that was not waited for yet, and whatever it started."""
    with suppress(ProcessLookupError, PermissionError):  # the group is gone, or a zombie
        os.killpg(process.pid, signal.SIGKILL)


def executable(path: str | None = None) -> str:
    """Return git's absolute path, out of the absolute entries of a PATH, by default our own.

    Raises:
        NotFound: it is in none of them.
    """
    return _executable(os.environ.get("PATH", os.defpath) if path is None else path)


def absolute(path: str) -> str:
    """Return the absolute entries of a PATH: the others lead into whatever folder one is in."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))


@lru_cache(maxsize=8)
def _executable(path: str) -> str:
    for entry in filter(None, absolute(path).split(os.pathsep)):
        if os.path.isfile(found := f"{entry}/git") and os.access(found, os.X_OK):
            return found
    # Raised rather than returned: it is not remembered, and git may be installed later.
    raise NotFound("cannot run git: it is in no absolute folder of PATH", hint="install git")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without git's variables, and with the absolute part of PATH."""
    kept = {name: text for name, text in environ.items() if not name.startswith("GIT_")}
    return kept | {"PATH": absolute(environ.get("PATH", os.defpath))}
