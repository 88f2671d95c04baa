"""What every installer is given and returns, and our scripts in `<home>/hooks`.

Clients' configurations name these copies, whose paths never change; none is removed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from observer.clients.config_files.file_edits import FileEdit, read_file
from observer.core.errors import ConfigInvalid
from observer.core.paths import SHIPPED_HOOKS, Home, working_folder
from observer.git.launch import absolute_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallContext:
    """Where to install.

    `observer` is the absolute path of our command. `project` is the repository that was asked for
    by name, if any; `folder` is the working folder. `environ` says where clients keep their files.
    `tools` names toolsets as `observer mcp --tools` takes them; empty leaves those of an entry.
    `ctrl_r` says whether shells bind Ctrl-R; None leaves that as it is. Without `is_wanted`, what
    is ours is taken out.
    """

    home: Home
    user_home: Path
    observer: str
    environ: Mapping[str, str]
    folder: Path
    project: Path | None = None
    tools: str = ""
    ctrl_r: bool | None = None
    is_wanted: bool = True

    def place(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else a folder in the user's home."""
        chosen = self.environ.get(variable, "")
        return Path(chosen) if chosen.startswith("/") else self.user_home / default


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """What would be written, and what the user has to know or do besides.

    `root` is the repository whose own files are changed; None where they are the user's.
    """

    edits: tuple[FileEdit, ...]
    notes: tuple[str, ...] = field(default=())
    root: Path | None = None

    @property
    def is_change(self) -> bool:
        """Whether anything would be written."""
        return any(edit.is_change for edit in self.edits)


def current_context(home: Home, *, project: Path | None = None, tools: str = "") -> InstallContext:
    """Return the context of this process: its user, environment, working folder and command.

    That is this interpreter's, else the first in `PATH`; raises ConfigInvalid if there is none.
    """
    beside = Path(sys.executable).with_name("observer")
    found = (
        str(beside)
        if beside.exists()
        else shutil.which("observer", path=absolute_entries(os.environ.get("PATH", os.defpath)))
    )
    if not found:
        raise ConfigInvalid(
            "no observer command is installed", hint="install the package, then repeat"
        )
    return InstallContext(
        home=home,
        user_home=Path.home(),
        observer=str(Path(found).absolute()),
        environ=dict(os.environ),
        folder=working_folder(),
        project=project.absolute() if project else None,
        tools=tools,
    )


def shipped(sources: Sequence[Path] = SHIPPED_HOOKS) -> Path:
    """Return the folder of the scripts of this version; raise ConfigInvalid if they are missing."""
    for folder in sources:
        if (folder / "post").is_file():
            return folder
    raise ConfigInvalid(
        f"the hook scripts are missing from {sources[0].parent}", hint="install observer again"
    )


def hook_files(home: Home) -> list[FileEdit]:
    """Return the edits that bring `<home>/hooks` to this version; none if it is there."""
    source = shipped()
    # As git writes a value in quotes.
    post = shlex.quote(str(home.hooks / "post")).replace("\\", r"\\").replace('"', r"\"")
    edits = []
    for script in sorted(path for path in source.rglob("*") if path.is_file()):
        target = home.hooks / script.relative_to(source)
        content = script.read_bytes()
        if script.parent.name == "git" and script.name == "config":
            content = content.replace(b"@POST@", os.fsencode(post))
        mode = 0o700 if content.startswith(b"#!") else 0o600
        edit = FileEdit(
            path=target, before=read_file(target), after=content, mode=mode, is_ours=True
        )
        if edit.is_change:
            edits.append(edit)
    return edits


def command(home: Home, *words: str) -> str:
    """Return the command line, quoted for sh, of one of our scripts: its name, its arguments."""
    script, *arguments = words
    return shlex.join([str(home.hooks / script), *arguments])


def is_ours(home: Home, line: object) -> bool:
    """Return True if a command line in a client's configuration runs one of our scripts."""
    words: list[str] = []
    with suppress(ValueError):
        words = shlex.split(line) if isinstance(line, str) else []
    return bool(words) and words[0].startswith(f"{home.hooks}/")
