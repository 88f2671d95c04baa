"""GitPython's `Git` in a closed environment, for objects: the only use of GitPython.

Only `git.cmd` is imported: the package's `__init__` would run the first git of PATH, and bring
`Repo`, which reads a repository's own configuration.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import cast

from observer.git.launch import GitProcess

sys.modules.setdefault("git", module_from_spec(cast("ModuleSpec", find_spec("git"))))
from git.cmd import Git  # noqa: E402 - of a package that is there, and was not run


class _Content(Git.CatFileContentStream):
    """An object that is being read."""

    def __del__(self) -> None:
        """Leave the rest: GitPython would wait for it, of a git too that does not answer."""


class SafeGit(Git):
    """git for one repository; GitPython would expand its folder and add to our environment."""

    CatFileContentStream = _Content

    def __init__(self, start: Callable[..., GitProcess]) -> None:
        super().__init__()
        self._start = start

    def execute(  # type: ignore[override]  # always as a process
        self, command: Sequence[str], istream: int | None = None, **_: object
    ) -> GitProcess:
        """Start git; the first word is none. Raises: NotFound."""
        return self._start(command[1:], reads=istream)

    def _parse_object_header(self, header_line: str | bytes) -> tuple[str, str, int]:
        """Return id, kind and size of an object; GitPython refuses the ids of SHA-256."""
        name, kind, size = map(os.fsdecode, header_line.split())
        return name, kind, int(size)
