"""Owns the answer to "whose shell was this?" for hooks that no client runs itself.

A git hook or a script inherits the variables that an agent sets in its shells; a person's shell
has our recorder's. The agent's is the nearer truth: it may have been started from that shell.

The names of observer's own MCP tools, in every client's spelling.

Part of decoding (step 3). What our tools are asked and what they answer stands in the memory
already: copies of it would be found in place of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

_SESSIONS = (
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CURSOR_CONVERSATION_ID", "cursor"),
    ("KIRO_SESSION_ID", "kiro"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
)
_MARKS = (
    ("CLAUDECODE", "claude-code"),
    ("CURSOR_AGENT", "cursor"),
    ("CODEX_SANDBOX", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    ("COPILOT_CLI", "copilot"),
    ("OPENCODE", "opencode"),
    ("OPENCODE_CLIENT", "opencode"),
    ("CLINE_ACTIVE", "cline"),
    ("DEVIN_PROJECT_DIR", "devin"),
)
_NAMED = ("AI_AGENT", "AGENT")
_SHELLS = ("bash", "zsh", "fish")


class Attribution(NamedTuple):
    """Who did it: client and session are empty where nobody told."""

    client: str = ""
    session: str = ""
    author: Literal["person", "agent"] = "person"


def attribute(env: Mapping[str, str]) -> Attribution:
    """Name the client, its session and the kind of author from the hook's environment."""
    for variable, client in _SESSIONS:
        if env.get(variable):
            return Attribution(client, env[variable], "agent")
    for variable, client in _MARKS:
        if env.get(variable):
            return Attribution(client, "", "agent")
    for variable in _NAMED:
        if env.get(variable):
            return Attribution(env[variable], "", "agent")
    session = env.get("OBSERVER_SESSION", "")
    shell = session.partition("-")[0]
    return Attribution(shell if shell in _SHELLS else "", session, "person")


OWN_QUERIES = frozenset(
    {"search", "timeline", "get_observations", "get_context", "why", "fetch"}
    | {"projects", "sessions"}
    | {"search_notes", "list_notes", "list_tags", "list_folders", "get_note"}
    | {"get_signals", "list_inferences", "get_inference"}
)
"""observer's MCP tools that ask: that they did is worth keeping, their answers are echoes."""
OWN_PRIVATE_TOOLS = frozenset(
    {"memory", "save_note", "update_note", "delete_note", "update_signal_status", "mint_inference"}
    | {"add_memory", "update_memory", "delete_memory", "delete_all_memories"}
    | {"search_memories", "get_memory", "get_all_memories"}
)
"""Those that are told what is to be kept, or asked about one person: both only there."""

SERVERLESS = "MCP:"
"""How Cursor begins the name of an MCP tool where it does not tell the server."""

_UNIQUE = OWN_PRIVATE_TOOLS | {"get_observations", "search_notes", "get_signals", "list_inferences"}
"""Names that are taken for ours where the client does not name the server."""

_NAMES = "|".join(sorted(OWN_QUERIES | OWN_PRIVATE_TOOLS, key=len, reverse=True))
_SPELLED = re.compile(
    rf"(?:(?:mcp|functions|tools|plugin_[a-z0-9]\w{{0,60}}?)_)*observer(?:_[a-z0-9]\w{{0,60}}?)?"
    rf"_({_NAMES})"
)
"""A name of ours behind a server's, with `_` for whatever sign the client puts between them."""
_SERVER_BEHIND = re.compile(
    r"(?:MCP:)?\s*([\w-]+)\s*\(([\w-]+)(?:\s+MCP)?(?:\s+server)?\)", re.IGNORECASE
)
_SIGNS = re.compile(r"[\W_]+")


def own_tool_name(tool: str) -> str:
    """Return the name of a tool of a server of ours; empty for others.

    The server is called `observer` or `observer-memex`, `observer_memory` and the like. Where the
    client leaves the server out, what may be a note is taken for one of ours.

    >>> own_name("mcp__observer__search"), own_name("MCP: get_note (observer-memex)")
    ('search', 'get_note')
    >>> own_name("mcp__tracker__search"), own_name("resize_observer_search_index")
    ('', '')
    """
    if len(tool) > 200:
        return ""
    if behind := _SERVER_BEHIND.fullmatch(tool):
        tool = f"{behind[2]}/{behind[1]}"
    elif (bare := tool.removeprefix(SERVERLESS)) != tool:
        return bare.strip() if bare.strip() in _UNIQUE else ""
    found = _SPELLED.fullmatch(_SIGNS.sub("_", tool.lower()).strip("_"))
    return found[1] if found else ""


def is_own_tool(tool: str) -> bool:
    """Return True if a tool is one of observer's."""
    return bool(own_tool_name(tool))
