"""Recognizes observer's own MCP tools, in every client's spelling: their answers are no events."""

from __future__ import annotations

import re

OWN_QUERIES = frozenset(
    {"search", "timeline", "get_observations", "get_context", "related", "why", "fetch"}
    | {"projects", "sessions", "code", "session", "project"}
    | {"search_notes", "list_notes", "list_tags", "list_folders", "get_note"}
    | {"get_signals", "list_inferences", "get_inference"}
    | {"read_note", "view_note", "read_content", "list_directory", "search_by_metadata"}
    | {"build_context", "recent_activity", "list_memory_projects", "cloud_info", "release_notes"}
    | {"schema_validate", "schema_infer", "schema_diff"}
)
"""observer's MCP tools that read: the question is worth keeping, the answer is a copy."""
OWN_PRIVATE_TOOLS = frozenset(
    {"memory", "resolve", "mint_inference", "update_signal_status"}
    | {"save_note", "update_note", "delete_note"}
    | {"add_memory", "update_memory", "delete_memory", "delete_all_memories"}
    | {"search_memories", "get_memory", "get_all_memories"}
    | {"write_note", "edit_note", "move_note", "canvas", "create_memory_project", "delete_project"}
)
"""Those that write notes or read what belongs to one person: neither is kept a second time."""

SERVERLESS = "MCP:"
"""Prefix by which Cursor marks an MCP tool whose server it does not name."""

_UNIQUE = OWN_PRIVATE_TOOLS | {"get_observations", "search_notes", "get_signals", "list_inferences"}
"""Names that are taken for ours where the client does not name the server."""

_NAMES = "|".join(sorted(OWN_QUERIES | OWN_PRIVATE_TOOLS, key=len, reverse=True))
_SPELLED = re.compile(
    rf"(?:(?:mcp|functions|tools|plugin_[a-z0-9]\w{{0,60}}?)_)*observer(?:_[a-z0-9]\w{{0,60}}?)??"
    rf"_({_NAMES})"
)
"""A name of ours behind a server's, with `_` for any sign between; the longest name counts."""
_SERVER_BEHIND = re.compile(
    r"(?:MCP:)?\s*([\w-]+)\s*\(([\w-]+)(?:\s+MCP)?(?:\s+server)?\)", re.IGNORECASE
)
_SIGNS = re.compile(r"[\W_]+")


def own_tool_name(tool: str) -> str:
    """Return the name of a tool of a server of ours, as `observer` or `observer-memex`; else "".

    Where the client leaves the server out, what may be a note is taken for one of ours.

    >>> own_tool_name("mcp__observer__search"), own_tool_name("MCP: get_note (observer-memex)")
    ('search', 'get_note')
    >>> own_tool_name("mcp__tracker__search"), own_tool_name("resize_observer_search_index")
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
