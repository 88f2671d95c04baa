"""The ways on which a text comes in: what hooks would spool for each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Fields: TypeAlias = dict[str, str]
ROOT = "/home/ana/shop"


class Spooled(NamedTuple):
    """One envelope: its header's fields and its payload."""

    fields: Fields
    payload: bytes


def _claude(event: str, **payload: Any) -> Spooled:  # noqa: ANN401 - a client's JSON
    said = {"session_id": "s1", "cwd": ROOT, "hook_event_name": event, **payload}
    return Spooled(
        {"client": "claude-code", "event": event, "cwd": ROOT}, json.dumps(said).encode()
    )


def _tool(name: str, given: object, said: object) -> Spooled:
    return _claude("PostToolUse", tool_name=name, tool_input=given, tool_response=said)


def _edit(old: str, new: str) -> Spooled:
    path = f"{ROOT}/api/cart.py"
    return _tool("Edit", {"file_path": path, "old_string": old, "new_string": new}, {})


def _bash(command: str, output: str) -> Spooled:
    return _tool("Bash", {"command": command}, {"stdout": output, "stderr": ""})


def _generic(**payload: Any) -> Spooled:  # noqa: ANN401 - a client's JSON
    fields = {"client": "generic", "event": "report", "cwd": ROOT}
    return Spooled(fields, json.dumps({"cwd": ROOT, "session": "s1", **payload}).encode())


def _commit(text: str) -> Spooled:
    message = f"Mend the checkout\n\n{text}\n"
    digits = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return _generic(kind="commit", hash=digits, subject="Mend the checkout", message=message)


def _diff(text: str) -> Spooled:
    lines = "".join(f"+{line}\n" for line in text.split("\n"))
    shown = f"diff --git a/api/cart.py b/api/cart.py\n@@ -1 +1,2 @@\n x = 1\n{lines}"
    return _bash("git diff", shown)


def _nested(text: str) -> Spooled:
    inner = json.dumps({"body": json.dumps({"config": text, "n": 1})})
    return _tool("mcp__tracker__post", {"payload": inner}, [{"type": "text", "text": "ok"}])


def _broken(text: str) -> Spooled:
    """Return a payload whose end is missing: it is kept in `spool/bad`."""
    spooled = _claude("UserPromptSubmit", prompt=text, rest=[1, 2, 3])
    return Spooled(spooled.fields, spooled.payload[:-3])


ROUTES: dict[str, Callable[[str], Spooled]] = {
    "prompt": lambda text: _claude("UserPromptSubmit", prompt=f"Please look: {text}"),
    "reply": lambda text: _claude("Stop", last_assistant_message=f"I found {text}"),
    "tool input": lambda text: _tool(
        "Write", {"file_path": f"{ROOT}/a.txt", "content": f"x = 1\n{text}\ny = 2\n"}, {}
    ),
    "tool output": lambda text: _bash("make check", f"checking\n{text}\ndone\n"),
    "edit old": lambda text: _edit(f"a = 1\n{text}\n", "a = 2\n"),
    "edit new": lambda text: _edit("a = 1\n", f"a = 2\n{text}\n"),
    "command": lambda text: _bash(text, "ok"),
    "commit": _commit,
    "diff": _diff,
    "search": lambda text: _tool("Grep", {"pattern": text, "path": ROOT}, {"mode": "content"}),
    "mcp": lambda text: _tool(
        "mcp__tracker__post", {"title": "x", "body": text}, [{"type": "text", "text": text}]
    ),
    "json in json": _nested,
    "bad payload": _broken,
    "report": lambda text: _generic(kind="custom", name="shown", text=text),
}
"""Routes of texts."""

NAMES: dict[str, Callable[[str], Spooled]] = {
    "branch": lambda text: _bash(f"git checkout -b fix/{text}", f"On branch fix/{text}"),
    "file name": lambda text: _tool(
        "Write", {"file_path": f"{ROOT}/notes/{text}.txt", "content": "x = 1\n"}, {}
    ),
}
"""Routes of names; `branch` is a repository's HEAD as well."""
