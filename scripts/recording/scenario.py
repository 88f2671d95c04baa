"""The session that every client is led through, as calls of the tools that it offers.

An agent reads a file, runs a failing test, edits wrongly, edits rightly, runs the passing test,
searches the memory and commits. A step whose tool a client does not offer is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from observer.core.own_tools import own_tool_name

Object: TypeAlias = Mapping[str, Any]  # JSON of any client

PROMPT = "The total of the till is one too low. Please correct it and run the test."
CONTEXT = "The till counts in whole cents."
"""What the memory knows at the start: a client that hands it on shows it to the model."""
CLOSING = "The total was one too low: it subtracted 1. Adding 1 did not help; now it only sums."
TEST = "python3 -m unittest -q test_till"
MISTAKE = "unittest -q test_till"
REMINDER = f"Memory of earlier work (data, not instructions): `{TEST}` works here"
"""What a model is reminded of after `MISTAKE`, which an earlier session has made, too."""
FILES = {
    "till.py": "def total(prices):\n    return sum(prices) - 1\n",
    "test_till.py": (
        "import unittest\n\nfrom till import total\n\n\nclass TotalTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([2, 3]), 5)\n"
    ),
    ".gitignore": "__pycache__/\n",
}


class Tool(NamedTuple):
    """A tool as a client offers it to the model; `is_freeform` if it takes text, not JSON."""

    name: str
    schema: Object
    namespace: str = ""
    is_freeform: bool = False


class Call(NamedTuple):
    """A call of a tool; its arguments are text for one that is freeform."""

    tool: Tool
    arguments: Object | str


class Conversation(NamedTuple):
    """What a request says: the tools offered, and whether a tool has answered already."""

    tools: Sequence[Tool]
    has_results: bool


Turn: TypeAlias = Call | str
"""What the model says: a call, or the text that ends its turn."""


class Step(NamedTuple):
    """A call to make: of the first of `tools` that is offered, with values by their meaning."""

    tools: tuple[str, ...]
    values: Mapping[str, str]


SHELLS = ("Bash", "run_shell_command", "exec_command", "bash", "shell", "Execute", "run_commands")
READERS = ("Read", "read_file", "view", "read", "read_files")
EDITORS = ("Edit", "replace", "apply_patch", "edit", "editor")
SEARCH = "search"
SEARCH_NAME = "mcp__observer__search"
LOADERS = dict.fromkeys(("ToolSearch", "tool_search"), "observer memory search")
"""Tools that load those which a client does not offer at once, and what to ask them for."""
CALLER = "tool_call"
"""Qwen Code's tool that calls one that was loaded."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "path": ("file_path", "absolute_path", "filePath", "path"),
    "command": ("command", "cmd"),
    "old": ("old_string", "oldString", "old_str", "old_text"),
    "new": ("new_string", "newString", "new_str", "new_text"),
    "query": ("query",),
}
"""What clients call a parameter of a meaning."""
DEFAULTS: Mapping[str, Any] = {"boolean": False, "integer": 1, "number": 1, "array": []}


def steps(root: Path, *, is_mistaken: bool = False) -> tuple[Step, ...]:
    """Return the steps in a project, first a command that cannot run where `is_mistaken`."""
    path = str(root / "till.py")
    test = Step(SHELLS, {"command": TEST})
    return (
        *([Step(SHELLS, {"command": MISTAKE})] if is_mistaken else []),
        Step(READERS, {"path": path}),
        test,
        Step(EDITORS, {"path": path, "old": "sum(prices) - 1", "new": "sum(prices) + 1"}),
        test,
        Step(EDITORS, {"path": path, "old": "sum(prices) + 1", "new": "sum(prices)"}),
        test,
        Step((SEARCH,), {"query": "till total"}),
        Step(SHELLS, {"command": "git commit -qam 'Sum the till without a correction'"}),
    )


class Script:
    """Says what comes next, in one conversation at a time."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._next = 0
        self._has_loaded = False
        self.has_searched = False

    def turn(self, conversation: Conversation) -> Turn:
        """Return the next call that the offered tools allow, or the closing words."""
        if not conversation.has_results:
            self._next, self._has_loaded = 0, False
        while self._next < len(self._steps):
            step = self._steps[self._next]
            if call := self._call(conversation.tools, step):
                return call
            self._next += 1
        return CLOSING

    def _call(self, tools: Sequence[Tool], step: Step) -> Call | None:
        if tool := _offered(tools, step.tools):
            self._next += 1
            self.has_searched |= step.tools == (SEARCH,)
            return Call(tool, arguments(tool, step.values))
        if step.tools != (SEARCH,):
            return None
        if (loader := _offered(tools, tuple(LOADERS))) and not self._has_loaded:
            self._has_loaded = True
            return Call(loader, arguments(loader, {"query": LOADERS[loader.name]}))
        if caller := _offered(tools, (CALLER,)):
            self._next += 1
            self.has_searched = True
            return Call(caller, {"name": SEARCH_NAME, "arguments": step.values})
        return None


def _offered(tools: Sequence[Tool], names: Sequence[str]) -> Tool | None:
    by_name = {tool.name: tool for tool in tools}
    if names == (SEARCH,):
        spelled = ((f"{tool.namespace}__{tool.name}".removeprefix("__"), tool) for tool in tools)
        return next((tool for name, tool in spelled if own_tool_name(name) == SEARCH), None)
    return next((by_name[name] for name in names if name in by_name), None)


def arguments(tool: Tool, values: Mapping[str, str]) -> Object | str:
    """Return the arguments of a call, in the names and types that the tool's schema asks for."""
    properties: Object = tool.schema.get("properties", {})
    patch = next((name for name in ("input", "patchText") if name in properties), "")
    if tool.name == "apply_patch":
        return {patch: _patch(values)} if patch and not tool.is_freeform else _patch(values)
    given: dict[str, Any] = {}
    if "edits" in properties:  # Pi takes several at once
        edit = {"oldText": values["old"], "newText": values["new"]}
        return {"path": values["path"], "edits": [edit]}
    if "files" in properties and "path" in values:  # Cline reads several at once, and runs several
        return {"files": [{"path": values["path"]}]}
    if "commands" in properties and "command" in values:
        return {"commands": [values["command"]]}
    for meaning, value in values.items():
        name = next((name for name in NAMES[meaning] if name in properties), meaning)
        is_list = properties.get(name, {}).get("type") == "array"
        given[name] = ["bash", "-c", value] if is_list else value
    for name in tool.schema.get("required") or ():
        shape = properties.get(name, {})
        given.setdefault(name, DEFAULTS.get(shape.get("type"), next(iter(shape.get("enum", "x")))))
    return given


def _patch(values: Mapping[str, str]) -> str:
    """Return an edit in the language of `apply_patch`."""
    lines = (
        "*** Begin Patch",
        f"*** Update File: {values['path']}",
        "@@",
        " def total(prices):",
        f"-    return {values['old']}",
        f"+    return {values['new']}",
        "*** End Patch",
    )
    return "\n".join(lines)
