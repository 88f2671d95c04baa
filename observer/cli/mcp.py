"""`observer mcp`: the server that clients start, and what it hands to a model at what price."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, cast

import click
import orjson

from observer.cli import completion, output
from observer.cli.commands import Group, command
from observer.clients.config_files.context import InstallContext, current_context
from observer.clients.parts import SERVER, server_entry
from observer.core.paths import home
from observer.memory.api import Memory
from observer.tools import render
from observer.tools.registry import chosen, tools_of, toolsets

_NO_MEMORY = cast("Memory", None)  # the tools are looked at, not called


Offer = dict[str, Any]


def offers(names: Sequence[str]) -> list[Offer]:
    """Return the toolsets of a choice, or all, with tokens. Raises BadInput: a tool is twice."""
    tools_of(tuple(names), _NO_MEMORY, str)
    found = []
    for name in names or toolsets():
        guide, tools = toolsets()[name].guide, list[Offer]()
        for each in toolsets()[name].tools(_NO_MEMORY, str):
            about = {"name": each.name, "description": each.description}
            shown = orjson.dumps({**about, "input_schema": each.input_schema}).decode()
            tools.append({**about, "title": each.title, "tokens": render.tokens(shown)})
        tokens = render.tokens(guide) + sum(each["tokens"] for each in tools)
        found.append({"toolset": name, "guide": guide, "tokens": tokens, "tools": tools})
    return found


def snippets(context: InstallContext) -> list[dict[str, str]]:
    """Return what to do in each client and with which text, with this installation's command."""
    entry = server_entry(None, context)
    argv = [entry["command"], *entry["args"]]
    variables = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    claude = ["claude", "mcp", "add", "--scope=user", *(f"--env={one}" for one in variables)]
    before = ["env", *variables] if variables else []
    pasted = orjson.dumps({"mcpServers": {SERVER: entry}}).decode()
    rows = (
        ("claude-code", "run", shlex.join([*claude, SERVER, "--", *argv])),
        ("cursor", "merge into ~/.cursor/mcp.json", pasted),
        ("kiro", "merge into ~/.kiro/settings/mcp.json", pasted),
        ("any other", "start over stdio", shlex.join([*before, *argv])),
    )
    return [dict(zip(("client", "instruction", "text"), row, strict=True)) for row in rows]


@click.group("mcp", cls=Group, invoke_without_command=True, epilog="Example: observer mcp list")
@completion.option(
    "--tools", completion.toolsets, "Toolsets to offer; core if left out.", metavar="NAME[,NAME]"
)
def mcp_command(*, tools: str) -> int:
    """Serve MCP on standard input and output: editors start it."""
    from observer.local import pump  # noqa: PLC0415 - `observer.__main__` comes here only for the help

    return pump.main(["--tools", tools] if tools else [])


@command("list", "observer mcp list core,mem0", of=mcp_command)
@click.argument(
    "toolsets", required=False, metavar="[NAME,NAME]", shell_complete=completion.toolsets
)
@click.option("--snippets", "entries", is_flag=True, help="The entry of each client, to add it.")
def list_command(*, toolsets: str | None, entries: bool) -> None:
    """List toolsets and tools with the tokens that each costs."""
    names = chosen(toolsets) if toolsets else ()
    if entries:
        known = snippets(current_context(home(), tools=",".join(names)))
        for one in () if output.as_json(known) else known:
            output.say(f"{one['client']}: {one['instruction']}")
            output.say(f"  {one['text']}", is_exact=True)
        return
    found = offers(names)
    if output.as_json(found):
        return
    rows = []
    for each in found:
        name, about = each["toolset"], render.one_line(each["guide"], 60)
        rows.append((name, f"({len(each['tools'])} in all)", f"{each['tokens']:,}", about))
        rows += [(name, one["name"], f"{one['tokens']:,}", one["title"]) for one in each["tools"]]
    output.table(("toolset", "tool", "tokens", "what for"), rows)
    if toolsets:
        output.note(f"{sum(each['tokens'] for each in found):,} tokens in all")
    output.note(
        "choose with: observer mcp --tools NAME,NAME (core if left out), over HTTP with /mcp/NAME"
    )
