"""Tools are what they are under each name that a version of a client has had for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from observer.clients.envelope import Envelope
from observer.core.events import Event
from observer.ingest.decode import decode_call

Row = tuple[str, str, dict[str, Any], str, str]

CLAUDE: list[Row] = [
    ("claude-code", "View", {"file_path": "a.py"}, "file-read", "a.py"),
    ("claude-code", "Replace", {"file_path": "a.py", "content": "x"}, "file-write", "a.py"),
    ("claude-code", "GlobTool", {"pattern": "*.py"}, "search", "*.py"),
    ("claude-code", "GrepTool", {"pattern": "total"}, "search", "total"),
    ("claude-code", "LS", {"path": "/p"}, "search", "/p"),
    ("claude-code", "dispatch_agent", {"prompt": "look"}, "delegation", "look"),
    ("claude-code", "NotebookRead", {"notebook_path": "a.ipynb"}, "file-read", "a.ipynb"),
    (
        "claude-code",
        "NotebookEditCell",
        {"notebook_path": "a.ipynb", "new_source": "x"},
        "file-write",
        "a.ipynb",
    ),
    ("claude-code", "mcp__acp__Bash", {"command": "make"}, "command", "make"),
    ("claude-code", "mcp__acp__Read", {"file_path": "a.py"}, "file-read", "a.py"),
    (
        "claude-code",
        "mcp__acp__Edit",
        {"file_path": "a.py", "old_string": "a", "new_string": "b"},
        "file-write",
        "a.py",
    ),
    ("claude-code", "TodoWrite", {"todos": []}, "tool-use", "TodoWrite"),
    ("claude-code", "mcp__tracker__search", {"query": "x"}, "tool-use", "mcp__tracker__search"),
]
CODEX: list[Row] = [
    ("codex", "view_image", {"path": "a.png"}, "file-read", "a.png"),
    ("codex", "open_page", {"url": "https://e.org"}, "search", "https://e.org"),
    ("codex", "list_dir", {"dir_path": "/p"}, "search", "/p"),
    ("codex", "update_plan", {"plan": []}, "tool-use", "update_plan"),
]
GEMINI: list[Row] = [
    ("gemini", "read_many_files", {"paths": ["a.py", "b.py"]}, "file-read", "a.py b.py"),
    ("gemini", "read_many_files", {"include": ["*.py"]}, "file-read", "*.py"),
    ("gemini", "read_file", {"absolute_path": "/p/a.py"}, "file-read", "/p/a.py"),
    ("gemini", "codebase_investigator", {"objective": "look"}, "delegation", "look"),
    (
        "gemini",
        "delegate_to_agent",
        {"agent_name": "x", "objective": "look"},
        "delegation",
        "look",
    ),
    ("gemini", "save_memory", {"fact": "x"}, "tool-use", "save_memory"),
    ("qwen", "read_many_files", {"paths": ["a.py"]}, "file-read", "a.py"),
]
COPILOT: list[Row] = [
    ("copilot", "str_replace_editor", {"command": "view", "path": "a.py"}, "file-read", "a.py"),
    (
        "copilot",
        "str_replace_editor",
        {"command": "create", "path": "a.py", "file_text": "x"},
        "file-write",
        "a.py",
    ),
    (
        "copilot",
        "str_replace_editor",
        {"command": "str_replace", "path": "a.py", "old_str": "a", "new_str": "b"},
        "file-write",
        "a.py",
    ),
    (
        "copilot",
        "str_replace_editor",
        {"command": "insert", "path": "a.py", "insert_line": 1, "new_str": "b"},
        "file-write",
        "a.py",
    ),
    (
        "copilot",
        "str_replace_editor",
        {"command": "undo_edit", "path": "a.py"},
        "tool-use",
        "str_replace_editor",
    ),
    ("copilot", "web_search", {"query": "x"}, "search", "x"),
    ("copilot", "report_intent", {"intent": "x"}, "tool-use", "report_intent"),
]
CURSOR: list[Row] = [
    ("cursor", "Glob", {"glob_pattern": "*.py", "target_directory": "/p"}, "search", "*.py"),
    ("cursor", "LS", {"target_directory": "/p"}, "search", "/p"),
    ("cursor", "SemanticSearch", {"query": "where"}, "search", "where"),
    (
        "cursor",
        "StrReplace",
        {"path": "a.py", "old_string": "a", "new_string": "b"},
        "file-write",
        "a.py",
    ),
    ("cursor", "Write", {"path": "a.py", "contents": "b"}, "file-write", "a.py"),
    (
        "cursor",
        "ApplyPatch",
        {"patch": "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"},
        "file-write",
        "a.py",
    ),
    ("cursor", "TodoWrite", {"todos": []}, "tool-use", "TodoWrite"),
]
DROID: list[Row] = [
    ("droid", "Glob", {"patterns": ["*.py", "*.pyi"], "folder": "/p"}, "search", "*.py *.pyi"),
    ("droid", "LS", {"directory_path": "/p"}, "search", "/p"),
]


@pytest.mark.parametrize(
    ("client", "tool", "given", "kind", "about"),
    [
        pytest.param(*row, id=f"{row[0]}-{row[1]}-{number}")
        for number, row in enumerate([*CLAUDE, *CODEX, *GEMINI, *COPILOT, *CURSOR, *DROID])
    ],
)
def test_a_tool_is_known_by_its_name(
    client: str, tool: str, given: dict[str, Any], kind: str, about: str
) -> None:
    found = called(client, tool, given, "done")
    assert found.kind == kind
    assert about in found.about


class Seen(msgspec.Struct):
    kind: str
    about: str


def called(client: str, tool: str, given: dict[str, Any], answer: str) -> Seen:
    """Return what a finished call of a tool becomes."""
    event, answered = _EVENTS.get(client, ("PostToolUse", "tool_response"))
    envelope = Envelope(id="e", at_ms=1_763_715_600_000, client=client, event=event)
    payload: dict[str, Any] = {"session_id": "s", "hook_event_name": event, answered: answer}
    payload |= {"tool_name": tool, "tool_input": given}
    (found,) = decode_call(envelope, payload, cap_bytes=65_536)
    return seen(found)


_EVENTS = {
    "gemini": ("AfterTool", "tool_response"),
    "cursor": ("postToolUse", "tool_output"),
}


def seen(event: Event) -> Seen:
    """Return the kind of an event, and what it is about."""
    body = msgspec.to_builtins(event.body)
    names = ("command", "query", "task", "paths", "path", "tool")
    about = next(body[name] for name in names if body.get(name))
    return Seen(body["kind"], about if isinstance(about, str) else " ".join(about))
