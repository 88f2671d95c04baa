r"""bash, zsh and fish: one record of our recorders per command that a person typed.

A record is `name=value\0 … .`; hooks/README.md has its fields. What a person keeps out of the
shell's history, with a blank in front or by its own settings, is kept out of here as well.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from observer.clients.client import Client
from observer.clients.config_files.context import FileEdit, InstallContext, InstallPlan, read_file
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import PathOf, placed
from observer.clients.payload import event_of, number, span_ms
from observer.core.errors import ConfigInvalid, Undecodable
from observer.core.events import Command, Event

_LAST = "\0."
_INTERRUPTED = 128 + 2
_HISTORY = re.compile(r" *\d+[* ] (.*)\Z", re.DOTALL)


def read(envelope: Envelope, _: Object) -> Iterable[Event]:
    """Turn one record into the command it reports, or into none where its text is private."""
    record = envelope.payload.decode("utf-8", "replace")
    if not record.endswith(_LAST):
        raise Undecodable(f"a torn {envelope.client} record: it does not end with a dot")
    parts = (line.partition("=") for line in record.removesuffix(_LAST).split("\0"))
    fields = {name: value for name, _, value in parts}
    # bash repeats the last line of its history when that did not take the command: the recorder
    # then sends `unseen`, since a repeat looks like a secret that was kept out.
    history = _HISTORY.match(fields.get("history", ""))
    command = (history[1] if history else fields.get("text", "")).rstrip("\n")
    if not command or command[0].isspace():
        return
    exit_code = number(fields, "exit")
    body = Command(
        command=command,
        exit_code=exit_code,
        failed=None if exit_code is None else exit_code != 0,
        interrupted=exit_code == _INTERRUPTED,
        duration_ms=span_ms(fields, "duration_ms"),
    )
    session, cwd = envelope.id.rpartition("@")[0], fields.get("cwd", "")
    event = event_of(envelope, body, client=envelope.client, session=session, cwd=cwd)
    yield replace(event, author="person")


# --- how they are installed ----------------------------------------------------------------------
#
# One marked block that sources the recorder, if it is there, in files that need be in no encoding.

_BEGIN = b"# >>> observer >>>"
_END = b"# <<< observer <<<"
_BLOCK = re.compile(
    rb"(?m)^%(begin)b\r?\n(?:(?!%(begin)b).*\n)*?%(end)b(?:\r?\n|\Z)"
    % {b"begin": re.escape(_BEGIN), b"end": re.escape(_END)}
)

_PROFILES = (".bash_profile", ".bash_login", ".profile")


def _plan(shell: str, path: PathOf, context: InstallContext) -> InstallPlan:
    """Plan the block in a start-up file, or its removal; raise ConfigInvalid if one has no end."""
    file = path(context)
    found = _BLOCK.search(read_file(file) or b"")
    if not context.is_wanted:
        if found and _script("observer", shell, context) not in found[0]:
            note = f"The block in {file} is of another home, and stays."
            return InstallPlan(edits=(), notes=(note,))
        return InstallPlan(edits=(_edit(file, b""),))
    has_ctrl_r = bool(found and _script("ctrl-r", shell, context) in found[0])
    binds = has_ctrl_r if context.ctrl_r is None else context.ctrl_r
    line = b"test -r %b; and source %b" if shell == "fish" else b"[ ! -r %b ] || . %b"
    names = ("observer", "ctrl-r") if binds else ("observer",)
    scripts = (_script(name, shell, context) for name in names)
    block = b"\n".join((_BEGIN, *(line % (script, script) for script in scripts), _END, b""))
    notes = [f"New {shell} sessions record; this one does after: exec {shell}"]
    if not binds:
        notes.append(f"Find commands with Ctrl-R: observer install {shell} --ctrl-r")
    if shell == "bash" and (profile := _misses_rc(context)):
        notes.append(f"~/{profile} does not read ~/.bashrc, so login shells will not record.")
    return InstallPlan(edits=(_edit(file, block),), notes=tuple(notes))


def _edit(path: Path, block: bytes) -> FileEdit:
    before = read_file(path)
    content = before or b""
    found = _BLOCK.search(content)
    start = found.start() if found else len(content)
    head, tail = content[:start], _BLOCK.sub(b"", content[start:])
    if _BEGIN in head + tail:
        hint = "remove what is left of that block, then repeat"
        raise ConfigInvalid(f"{path} has the line {_BEGIN.decode()!r} without its end", hint=hint)
    if block and head and not head.endswith(b"\n"):
        head += b"\n"
    after = head + block + tail
    if not after.strip():
        return FileEdit(path=path, before=before, after=None if found else before)
    return FileEdit(path=path, before=before, after=after)


def _script(name: str, shell: str, context: InstallContext) -> bytes:
    """Return the path of one of our scripts for a shell, quoted for it."""
    path = str(context.home.hooks / "shell" / f"{name}.{shell}")
    if shell == "fish":
        quoted = "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"
    else:
        quoted = shlex.quote(path)
    return quoted.encode("utf-8", "surrogateescape")


def _misses_rc(context: InstallContext) -> str:
    """Return the file that login shells read instead of the rc file; "" if it reads that one."""
    # bash reads the first that is there, which often reads the last one in turn.
    contents = {name: read_file(context.user_home / name) for name in _PROFILES}
    first = next((name for name in _PROFILES if contents[name] is not None), "")
    text = contents.get(first) or b""
    if _PROFILES[-1].encode() in text:
        text += contents[_PROFILES[-1]] or b""
    return "" if b"bashrc" in text else first


def _client(name: str, tried: str, start_up: str, path: PathOf) -> Client:
    """Return a shell; every machine has several: its start-up file shows that one is used."""
    return Client(
        name=name,
        read=read,
        takes_json=False,
        folders=(start_up,),
        tried=tried,
        installer=partial(_plan, name, path),
        is_agent=False,
        binds_ctrl_r=True,
    )


CLIENTS = (
    _client("bash", "5.2.15", ".bashrc", placed("", ".", ".bashrc")),
    _client("zsh", "5.9", ".zshrc", placed("ZDOTDIR", ".", ".zshrc")),
    _client(
        "fish",
        "3.6.0",
        ".config/fish",
        placed("XDG_CONFIG_HOME", ".config", "fish/conf.d/observer.fish"),
    ),
)
