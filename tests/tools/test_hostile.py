"""Every tool of every toolset with wrong values, derived from its schema, at a real daemon."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.tools.registry import toolsets
from tests.tools.test_promises import daemon_in

pytestmark = pytest.mark.slow

LONG = "".join(f"{number:06x} " for number in range(1_000_000 // 7))
"""A megabyte in which no stretch comes twice."""
STRETCH = re.compile(r"(?:[0-9a-f]{6} ){29}|(.)\1{200}")
"""More than 200 characters of what is sent here."""
MOST_ANSWERED = 40_000
"""Characters of an answer over a memory that holds what these calls have left in it."""
DEEP: Any = 1
for _ in range(100):
    DEEP = [DEEP]
ALWAYS: tuple[Any, ...] = ("a\0b", 10**30, LONG, "../x")
"""What every parameter is sent."""
IN_TURN: tuple[Any, ...] = (
    "\ud800", -1, "", [], 0, DEEP, " ", {}, "memory://", -(10**30), [None], "nan", 1e308,
    ["x" * 500] * 300, "9" * 400, 2**53 - 1, {"a\0b": 1}, "'" * 1_000, True, ["a\0b", 10**30],
    "/", 1.5, {"$in": [{"$gt": 10**30}]}, "-1", {"k" * 5_000: ["v" * 5_000]},
)  # fmt: skip
"""What parameters are sent in turn, three each."""


def plausible(schema: dict[str, Any], of: dict[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if "anyOf" in schema:
        return plausible(schema["anyOf"][0], of)
    if "$ref" in schema:
        inner = of["$defs"][schema["$ref"].rpartition("/")[2]]
        return {name: plausible(inner["properties"][name], of) for name in inner["required"]}
    if "enum" in schema:
        return schema["enum"][-1]
    if schema.get("type") == "array":
        return [plausible(schema.get("items") or {}, of)]
    return {"integer": 1, "number": 0.5, "boolean": True, "object": {"a": "b"}}.get(
        schema.get("type", ""), "harbour"
    )


def wrong_calls(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parameter that is wrong, and arguments that are plausible beside it."""
    fields = schema["properties"]
    whole = {name: plausible(fields[name], schema) for name in schema.get("required", [])}
    for number, name in enumerate(fields):
        turn = 3 * (len(json.dumps(schema)) + number) % len(IN_TURN)
        for value in (*ALWAYS, *(IN_TURN * 2)[turn : turn + 3]):
            yield name, {**whole, name: value}
    yield "of its own", {**whole, "sessionId": LONG, LONG: 1, "a\0b": None}


class Wire:
    """A connection to the daemon's MCP socket; `hello` names the toolset."""

    def __init__(self, home: Home, toolset: str, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(str(home.mcp_socket))
        self._lines = self._socket.makefile("rb")
        hello = {"observer": 1, "version": "0", "cwd": str(folder), "tools": toolset}
        self._socket.sendall(json.dumps(hello).encode() + b"\n")
        info = {"name": "c", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        self.ask("initialize", **opening)

    def ask(self, method: str, **params: Any) -> bytes:
        """Return the line that answers a request."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._socket.sendall(json.dumps(body).encode() + b"\n")
        return self._lines.readline()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose daemon has a note folder, for all tests of this module."""
    root = tmp_path_factory.mktemp("hostile")
    with daemon_in(root) as (home, _):
        notes = {"project_name": "harbour", "project_path": str(root / "notes")}
        with closing(Wire(home, "basic-memory", root)) as wire:
            wire.ask("tools/call", name="create_memory_project", arguments=notes)
        yield home


def described(toolset: str) -> dict[str, dict[str, Any]]:
    found = toolsets()[toolset].tools(None, lambda: "")  # type: ignore[arg-type]  # not called
    return {tool.name: tool.input_schema for tool in found}


@pytest.mark.parametrize("toolset", toolsets())
def test_a_wrong_value_is_refused_in_a_few_words(toolset: str, hostile_home: Home) -> None:
    root = hostile_home.root.parent
    wire, around = Wire(hostile_home, toolset, root), sorted(root.iterdir())
    faults = []
    for tool, schema in described(toolset).items():
        for wrong, arguments in wrong_calls(schema):
            sent = json.dumps(arguments)
            answer = wire.ask("tools/call", name=tool, arguments=arguments).decode()
            value = str(arguments.get(wrong))[:40]
            if "failed inside" in answer or not answer.startswith('{"jsonrpc"'):
                faults.append((tool, wrong, value, answer[:300]))
            if len(answer) > MOST_ANSWERED or repeats(answer, sent):
                faults.append((tool, wrong, value, f"{len(answer)} characters", answer[:600]))
    wire.close()
    assert faults == []
    assert sorted(root.iterdir()) == around


def repeats(answer: str, arguments: str) -> bool:
    """Return whether more than 200 characters of its arguments stand in a row in an answer."""
    return any(stretch[0] in arguments for stretch in STRETCH.finditer(answer))


def test_nothing_of_it_is_a_fault_of_the_daemon(hostile_home: Home) -> None:
    assert "Traceback" not in (hostile_home.logs / "daemon.log").read_text()


def test_an_integer_of_any_tool_has_a_range() -> None:
    def unbounded(schema: dict[str, Any]) -> bool:
        parts = [*schema.get("anyOf", []), *filter(None, [schema.get("items")])]
        is_number = schema.get("type") in ("integer", "number")
        has_range = "minimum" in schema and "maximum" in schema
        return (is_number and not has_range) or any(unbounded(part) for part in parts)

    for toolset in toolsets():
        for tool, schema in described(toolset).items():
            fields = schema["properties"].items()
            assert [name for name, field in fields if unbounded(field)] == [], (toolset, tool)
