"""The ways on which a text comes in: what hooks would spool for each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Fields: TypeAlias = dict[str, str]
HOME = "/home/ana"
ROOT = f"{HOME}/shop"


class Sent(NamedTuple):
    """A text on its way: the session that it belongs to and the file that it stands in."""

    text: str
    session: str = "s1"
    path: str = ""

    @property
    def file(self) -> str:
        """The whole path of the file."""
        return (self.path or f"{ROOT}/notes/today.txt").replace("~", HOME, 1)


class Spooled(NamedTuple):
    """One envelope: its header's fields and its payload."""

    fields: Fields
    payload: bytes


Way: TypeAlias = Callable[[Sent], Spooled]


def _claude(sent: Sent, event: str, **payload: Any) -> Spooled:  # noqa: ANN401 - a client's JSON
    said = {"session_id": sent.session, "cwd": ROOT, "hook_event_name": event, **payload}
    fields = {"client": "claude-code", "event": event, "cwd": ROOT}
    return Spooled(fields, json.dumps(said).encode())


def _tool(sent: Sent, name: str, given: object, said: object) -> Spooled:
    return _claude(sent, "PostToolUse", tool_name=name, tool_input=given, tool_response=said)


def _write(sent: Sent) -> Spooled:
    given = {"file_path": sent.file, "content": f"{sent.text}\n"}
    return _tool(sent, "Write", given, {"filePath": sent.file})


def _read(sent: Sent) -> Spooled:
    said = {"type": "text", "file": {"filePath": sent.file, "content": f"{sent.text}\n"}}
    return _tool(sent, "Read", {"file_path": sent.file}, said)


def _edit(sent: Sent, old: str, new: str) -> Spooled:
    given = {"file_path": sent.file, "old_string": old, "new_string": new}
    return _tool(sent, "Edit", given, {})


def _bash(sent: Sent, command: str, output: str) -> Spooled:
    return _tool(sent, "Bash", {"command": command}, {"stdout": output, "stderr": ""})


def _history(sent: Sent) -> Spooled:
    """Return what a person's shell logs."""
    record = f"exit=0\0duration_ms=40\0cwd={ROOT}\0cwd_after={ROOT}\0text={sent.text}\0."
    return Spooled({"client": "zsh", "event": "command", "cwd": ROOT}, record.encode())


def _generic(sent: Sent, **payload: Any) -> Spooled:  # noqa: ANN401 - a client's JSON
    fields = {"client": "generic", "event": "report", "cwd": ROOT}
    said = {"cwd": ROOT, "session": sent.session, **payload}
    return Spooled(fields, json.dumps(said).encode())


def _commit(sent: Sent) -> Spooled:
    subject, _, rest = f"Mend the checkout\n\n{sent.text}\n".partition("\n")
    digits = hashlib.sha1(sent.text.encode(), usedforsecurity=False).hexdigest()
    message = f"{subject}\n{rest}"
    return _generic(sent, kind="commit", hash=digits, subject=subject, message=message)


def _diff(sent: Sent) -> Spooled:
    lines = "".join(f"+{line}\n" for line in sent.text.split("\n"))
    shown = f"diff --git a/api/cart.py b/api/cart.py\n@@ -1 +1,2 @@\n x = 1\n{lines}"
    return _bash(sent, "git diff", shown)


def _nested(sent: Sent) -> Spooled:
    inner = json.dumps({"body": json.dumps({"config": sent.text, "n": 1})})
    return _tool(sent, "mcp__tracker__post", {"payload": inner}, [{"type": "text", "text": "ok"}])


def _mcp(sent: Sent) -> Spooled:
    said = [{"type": "text", "text": sent.text}]
    return _tool(sent, "mcp__tracker__post", {"title": "x", "body": sent.text}, said)


def _broken(sent: Sent) -> Spooled:
    """Return a payload whose end is missing: it is kept in `spool/bad`."""
    spooled = _claude(sent, "UserPromptSubmit", prompt=sent.text, rest=[1, 2, 3])
    return Spooled(spooled.fields, spooled.payload[:-3])


MAIN: dict[str, Way] = {
    "prompt": lambda sent: _claude(sent, "UserPromptSubmit", prompt=f"Please look: {sent.text}"),
    "output": lambda sent: _bash(sent, "make check", f"checking\n{sent.text}\ndone\n"),
    "file": _write,
    "commit": _commit,
    "history": _history,
}
"""Routes that every kind takes; of several lines, none is typed into a shell."""

OTHERS: dict[str, Way] = {
    "reply": lambda sent: _claude(sent, "Stop", last_assistant_message=f"I found {sent.text}"),
    "edit old": lambda sent: _edit(sent, f"a = 1\n{sent.text}\n", "a = 2\n"),
    "edit new": lambda sent: _edit(sent, "a = 1\n", f"a = 2\n{sent.text}\n"),
    "command": lambda sent: _bash(sent, sent.text, "ok"),
    "diff": _diff,
    "search": lambda sent: _tool(
        sent, "Grep", {"pattern": sent.text, "path": ROOT}, {"mode": "content"}
    ),
    "mcp": _mcp,
    "json in json": _nested,
    "bad payload": _broken,
    "report": lambda sent: _generic(sent, kind="custom", name="shown", text=sent.text),
}
"""Routes that kinds take in turn."""

NAMES: dict[str, Way] = {
    "cat": lambda sent: _bash(sent, f"cat {sent.file}", f"{sent.text}\n"),
    "branch": lambda sent: _bash(
        sent, f"git checkout -b fix/{sent.text}", f"On branch fix/{sent.text}"
    ),
    "file name": lambda sent: _tool(
        sent, "Write", {"file_path": f"{ROOT}/notes/{sent.text}.txt", "content": "x = 1\n"}, {}
    ),
}
"""Routes of kinds that ask for them; `branch` is a repository's HEAD as well."""

UNKEPT: dict[str, Way] = {"read": _read}
"""Routes whose text is not stored, but seen."""

ROUTES = MAIN | OTHERS | NAMES | UNKEPT
