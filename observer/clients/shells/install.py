"""bash, zsh and fish: one marked block that sources the recorder, if it is there.

bash and zsh have it at the end of their rc file, fish in a file of its own. The files are handled
as bytes: they need be in no encoding.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid

_BEGIN = b"# >>> observer >>>"
_END = b"# <<< observer <<<"
_BLOCK = re.compile(
    rb"(?m)^%(begin)b\r?\n(?:(?!%(begin)b).*\n)*?%(end)b(?:\r?\n|\Z)"
    % {b"begin": re.escape(_BEGIN), b"end": re.escape(_END)}
)


def _bash(context: InstallContext) -> Path:
    return context.user_home / ".bashrc"


def _zsh(context: InstallContext) -> Path:
    return context.place("ZDOTDIR", ".") / ".zshrc"


def _fish(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "fish" / "conf.d" / "observer.fish"


_PROFILES = (".bash_profile", ".bash_login", ".profile")

_FILES: dict[str, Callable[[InstallContext], Path]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


class ShellInstaller(NamedTuple):
    """Plans the block in the start-up file of one shell."""

    shell: str

    def install(self, context: InstallContext) -> InstallPlan:
        """Plan the block.

        Raises:
            ConfigInvalid: a block was begun there and not ended.
        """
        shell = self.shell
        edit = _edit(_FILES[shell](context), _block(shell, context))
        notes = [f"New {shell} sessions record; this one does after: exec {shell}"]
        if shell == "bash" and (profile := _misses_rc(context)):
            notes.append(f"~/{profile} does not read ~/.bashrc, so login shells will not record.")
        return InstallPlan(edits=(edit,), notes=tuple(notes))

    def uninstall(self, context: InstallContext) -> InstallPlan:
        """Plan the removal of the block; a file that held nothing else is removed.

        Raises:
            ConfigInvalid: a block was begun there and not ended.
        """
        path = _FILES[self.shell](context)
        found = _BLOCK.search(read(path) or b"")
        if found and _recorder(self.shell, context) not in found[0]:
            note = f"The block in {path} is of another home, and stays."
            return InstallPlan(edits=(), notes=(note,))
        return InstallPlan(edits=(_edit(path, b""),))


BASH, ZSH, FISH = map(ShellInstaller, _FILES)


def _edit(path: Path, block: bytes) -> FileEdit:
    before = read(path)
    content = before or b""
    found = _BLOCK.search(content)
    start = found.start() if found else len(content)
    head, tail = content[:start], _BLOCK.sub(b"", content[start:])
    if _BEGIN in head + tail:
        raise ConfigInvalid(
            f"{path} has the line {_BEGIN.decode()!r} without its end",
            hint="remove what is left of that block, then repeat",
        )
    if block and head and not head.endswith(b"\n"):
        head += b"\n"
    after = head + block + tail
    if not after.strip():
        return FileEdit(path=path, before=before, after=None if found else before)
    return FileEdit(path=path, before=before, after=after)


def _block(shell: str, context: InstallContext) -> bytes:
    recorder = _recorder(shell, context)
    line = b"test -r %b; and source %b" if shell == "fish" else b"[ ! -r %b ] || . %b"
    return b"\n".join((_BEGIN, line % (recorder, recorder), _END, b""))


def _recorder(shell: str, context: InstallContext) -> bytes:
    """Return the recorder's path, quoted for the shell."""
    path = str(context.home.hooks / "shell" / f"observer.{shell}")
    if shell == "fish":
        quoted = "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"
    else:
        quoted = shlex.quote(path)
    return quoted.encode("utf-8", "surrogateescape")


def _misses_rc(context: InstallContext) -> str:
    """Return the file that login shells read instead of the rc file; "" if it reads that one."""
    # bash reads the first that is there, which often reads the last one in turn.
    contents = {name: read(context.user_home / name) for name in _PROFILES}
    first = next((name for name in _PROFILES if contents[name] is not None), "")
    text = contents.get(first) or b""
    if _PROFILES[-1].encode() in text:
        text += contents[_PROFILES[-1]] or b""
    return "" if b"bashrc" in text else first
