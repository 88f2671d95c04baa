"""What to paste where, for people who register the MCP server by hand."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

from observer.install import jsonc
from observer.install.entries import SERVER, put_server
from observer.install.target import Context


class Snippet(NamedTuple):
    """One client's way: what to do, and the text to do it with."""

    client: str
    instruction: str
    text: str


def snippets(context: Context) -> list[Snippet]:
    """Return the MCP entry of each client, with this installation's own command."""
    document = jsonc.load(put_server("{}", context))
    entry = document["mcpServers"][SERVER]
    argv = [entry["command"], *entry["args"]]
    variables = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    claude = ["claude", "mcp", "add", "--scope=user", *(f"--env={one}" for one in variables)]
    before = ["env", *variables] if variables else []
    pasted = json.dumps(document)
    return [
        Snippet("claude-code", "run", shlex.join([*claude, SERVER, "--", *argv])),
        Snippet("cursor", "merge into ~/.cursor/mcp.json", pasted),
        Snippet("kiro", "merge into ~/.kiro/settings/mcp.json", pasted),
        Snippet("any other", "start over stdio", shlex.join([*before, *argv])),
    ]
