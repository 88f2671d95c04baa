"""What the user's own git configuration says, as far as it is asked for.

Only commands that run nothing are used, whatever is configured; those that read a repository's
content are for `process`.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache

from observer.errors import NotFound
from observer.git.launch import WAIT_S, environment, kill, launch

BELIEVED_S = 60.0
"""For so long the user's exceptions of ownership are not asked for again."""

_COMMANDS = frozenset({"config", "rev-parse", "version"})
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def as_user(
    words: Sequence[str], *, folder: str, environ: Mapping[str, str], wait_s: float = WAIT_S
) -> subprocess.CompletedProcess[bytes]:
    """Run git as the user has it configured, for what is asked about the configuration itself.

    Args:
        words: begin with one of a few commands that run nothing.
        folder: where.
        environ: where git is found, and what it is told; of its own variables only those that
            choose the user's configuration are kept.
        wait_s: longest wait.

    Raises:
        NotFound: git is not installed, does not answer, or the folder is gone.
    """
    if words[0] not in _COMMANDS:
        raise ValueError(f"git {words[0]} may run what a repository names")
    kept = {name: environ[name] for name in _KEPT if name in environ}
    try:
        process = launch(
            words,
            environ=environment(environ) | kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
            folder=folder,
            errors=subprocess.PIPE,
        )
    except OSError as error:
        raise NotFound(f"cannot run git: {error.strerror}", hint="install git") from error
    with process:
        try:
            out, err = process.communicate(timeout=wait_s)
        except subprocess.TimeoutExpired as error:
            kill(process)
            raise NotFound(f"git {words[0]} does not answer in {folder}") from error
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def users_setting(name: str, *options: str) -> list[str]:
    """Return the values of a setting in the user's and the system's configuration, in order.

    Raises:
        NotFound: git is not installed.
    """
    values: list[str] = []
    for level in ("--system", "--global"):
        words = ("config", level, "--includes", *options, "-z", "--get-all", name)
        done = as_user(words, folder="/", environ=os.environ)
        values += os.fsdecode(done.stdout).split("\0")[:-1]
    return values


def is_excepted(root: str) -> bool:
    """Return True if the user told git to trust a folder. Source: git-config(1), safe.directory."""
    is_safe = False
    for value in _exceptions(int(time.monotonic() / BELIEVED_S)):
        if not value:
            is_safe = False
        elif value == "*" or os.path.realpath(value) == root or _is_below(root, value):
            is_safe = True
    return is_safe


def _is_below(root: str, pattern: str) -> bool:
    return pattern.endswith("/*") and root.startswith(pattern[:-1])


@lru_cache(maxsize=1)
def _exceptions(_: int) -> list[str]:
    try:
        return users_setting("safe.directory", "--type=path")
    except NotFound:
        return []
