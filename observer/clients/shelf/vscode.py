"""VS Code: what its agent reports by the hooks of Copilot CLI and Claude Code, which it runs.

The fields are Claude Code's, but for those that name session and event; the arguments of tools are
in camelCase. Source: the client's documentation, of 2026-10-14; no payload was recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from observer.clients import tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.json_entries import Servers
from observer.clients.parts import ConfigFile, installer_of

NAME = "vscode"

NOISE: Mapping[str, str] = {"PreToolUse": "PostToolUse repeats the input and knows the end"}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="run_in_terminal",
    read="read_file",
    write="create_file",
    edit="replace_string_in_file",
    grep="grep_search semantic_search",
    find="file_search list_dir",
    delegate="runSubagent",
)


_DIALECT = Dialect(client=NAME, tools=TOOLS, noise=NOISE)


# --- how it is installed -------------------------------------------------------------------------


def _path(context: InstallContext) -> Path:
    is_mac = sys.platform == "darwin"
    on_mac = context.user_home / "Library" / "Application Support"
    folder = on_mac if is_mac else context.place("XDG_CONFIG_HOME", ".config")
    return folder / "Code" / "User" / "mcp.json"


CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        installer=installer_of(
            ConfigFile(_path, [Servers(("servers",), {"type": "stdio"})]),
            notes=["VS Code runs the hooks of Copilot CLI: observer install copilot"],
        ),
        programs=("code",),
        folders=(".config/Code", "Library/Application Support/Code"),
        reports_twice=True,  # it runs the hooks of Copilot CLI and of Claude Code
    ),
)
