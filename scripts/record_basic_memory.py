"""Record what basic-memory answers to the calls of the compatibility tests.

    .venv/bin/python scripts/record_basic_memory.py COMMAND [SCENARIO…]

COMMAND is an installed `basic-memory` 0.23.2, in a virtual environment of its own. Each file of
`tests/data/basic-memory/calls` is one scenario: calls over a fresh copy of the vault. Its answers
are written beside the calls; times, ids and the folder are replaced by placeholders.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, TypeAlias

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation

Json: TypeAlias = Any
CHATGPT = Implementation(name="openai-mcp", version="1")
"""A client by whose name `search` and `fetch` answer; the other tools answer everybody."""
SAMPLES = Path(__file__).parents[1] / "tests" / "data" / "basic-memory"
WITH_FILES = ("content", "directory")
"""Scenarios whose vault holds other files beside notes."""
NUMBERS = ("score", "entity_id", "observation_id", "relation_id", "from_entity_id", "to_entity_id")
PLACEHOLDERS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"(?<=- score: )-?\d+\.\d+"), "<score>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
)


def main() -> None:
    """Record the scenarios that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("command", type=Path)
    parser.add_argument("scenarios", nargs="*", help="names of files, without .json")
    options = parser.parse_args()
    names = options.scenarios or sorted(path.stem for path in (SAMPLES / "calls").glob("*.json"))
    for name in names:
        path = SAMPLES / "calls" / f"{name}.json"
        calls = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as folder:
            lay_out(Path(folder) / "vault", name)
            asyncio.run(record(options.command.absolute(), Path(folder), calls))
        path.write_text(json.dumps(calls, ensure_ascii=False, indent=1) + "\n")
        print(f"{name}: {len(calls)} calls")


def lay_out(vault: Path, scenario: str) -> None:
    """Copy the notes that a scenario begins with; a later path is a newer file, by a minute."""
    shutil.copytree(SAMPLES / "vault", vault)
    if scenario in WITH_FILES:
        shutil.copytree(SAMPLES / "files", vault, dirs_exist_ok=True)
    files = sorted(path for path in vault.rglob("*") if path.is_file())
    for ago, path in enumerate(reversed(files), start=60):
        at_s = time.time() - ago * 60
        os.utime(path, (at_s, at_s))


async def record(command: Path, folder: Path, calls: list[dict[str, Any]]) -> None:
    """Ask the calls in order and put the answers beside them."""
    vault = folder / "vault"
    server = StdioServerParameters(
        command=str(command),
        args=["mcp"],
        env={
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
            "BASIC_MEMORY_HOME": str(vault),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        },
    )
    with (folder / "log").open("w") as log, contextlib.redirect_stderr(log):
        async with Client(server, client_info=CHATGPT) as client:
            await until_scanned(client)
            for call in calls:
                call["answer"] = await answer(client, call, folder)


async def until_scanned(client: Client) -> None:
    """Wait until the notes of the vault are listed and found."""
    asked = ("Second of two notes", "tide table", "Knots", "Minus nine", "Passengers", "quay")
    async with asyncio.timeout(120):
        waiting = list(asked)
        while waiting:
            await asyncio.sleep(0.5)
            found = await client.call_tool("search_notes", {"query": waiting[0]})
            waiting = waiting["score" in str(found) :]
        await asyncio.sleep(2)


async def answer(client: Client, call: dict[str, Any], folder: Path) -> Json:
    """Return the text of an answer, or its JSON where it is JSON; errors begin with `error: `."""
    arguments = json.loads(json.dumps(call["arguments"]).replace("<home>", str(folder)))
    try:
        result = await client.call_tool(call["tool"], arguments)
    except MCPError as error:
        return normal(f"error: {error}", folder)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        return normal(f"error: {text}", folder)
    try:
        return placed(json.loads(normal(text, folder)))
    except ValueError:
        return normal(text, folder)


def placed(value: Json) -> Json:
    """Replace the numbers in JSON that differ between two runs."""
    if isinstance(value, list):
        return [placed(each) for each in value]
    if isinstance(value, dict):
        return {
            name: f"<{name}>" if name in NUMBERS and each is not None else placed(each)
            for name, each in value.items()
        }
    return value


def normal(text: str, folder: Path) -> str:
    """Replace what differs between two runs."""
    text = text.replace(str(folder), "<home>")
    for pattern, placeholder in PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return text


if __name__ == "__main__":
    main()
