"""What every installer is given, and what it gives back."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from observer.errors import ConfigInvalid
from observer.git.launch import absolute
from observer.install.edits import FileEdit
from observer.paths import Home, working_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where to install.

    `observer` is the absolute path of our command. `project` is the repository that was asked for
    by name, if any; `folder` is the working folder. `environ` tells where clients keep their files.
    """

    home: Home
    user_home: Path
    observer: str
    environ: Mapping[str, str]
    folder: Path
    project: Path | None = None

    def place(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else a folder in the user's home."""
        chosen = self.environ.get(variable, "")
        return Path(chosen) if chosen.startswith("/") else self.user_home / default


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be written, and what the user has to know or do besides."""

    edits: tuple[FileEdit, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def is_change(self) -> bool:
        """Whether anything would be written."""
        return any(edit.is_change for edit in self.edits)


def here(home: Home, *, project: Path | None = None) -> Context:
    """Return the context of this process: its user, environment, working folder and command.

    The command is the one that belongs to this interpreter, else the first in an absolute folder
    of `PATH`.

    Raises:
        ConfigInvalid: there is no observer command.
    """
    beside = Path(sys.executable).with_name("observer")
    found = (
        str(beside)
        if beside.exists()
        else shutil.which("observer", path=absolute(os.environ.get("PATH", os.defpath)))
    )
    if not found:
        raise ConfigInvalid(
            "no observer command is installed", hint="install the package, then repeat"
        )
    return Context(
        home=home,
        user_home=Path.home(),
        observer=str(Path(found).absolute()),
        environ=dict(os.environ),
        folder=working_folder(),
        project=project.absolute() if project else None,
    )
