"""Clients without hooks that we know: a row each. They report by the generic form, if at all."""

from __future__ import annotations

from typing import Any

from observer.clients import generic
from observer.clients.client import Client
from observer.clients.parts import PathOf, Servers, config_file, installer_of, placed

_USUAL = Servers()


def _client(
    name: str,
    path: PathOf,
    *notes: str,
    servers: Servers = _USUAL,
    **more: Any,  # noqa: ANN401 - of `Client`
) -> Client:
    installer = installer_of(config_file(path, servers.edited), notes=notes)
    return Client(name=name, read=generic.read, installer=installer, **more)


CLIENTS = (
    # What its hooks are given is documented nowhere.
    _client(
        "antigravity",
        placed("", ".gemini", "config/mcp_config.json"),
        programs=("agy", "antigravity"),
        folders=(".antigravity", ".gemini/antigravity"),
        marker_variables=("ANTIGRAVITY_AGENT",),
    ),
    # Agents that it runs have hooks of their own.
    _client(
        "zed",
        placed("XDG_CONFIG_HOME", ".config", "zed/settings.json"),
        "Claude Code, Codex CLI and others run their own hooks in Zed: install those too.",
        servers=Servers(("context_servers",)),
        programs=("zed", "zeditor"),
        folders=(".config/zed",),
    ),
    # As its source says; its editors read such files beside `config.yaml`, which is YAML.
    _client(
        "continue",
        placed("CONTINUE_GLOBAL_DIR", ".continue", "mcpServers/observer.json"),
        "Its command, cn, reads config.yaml alone: see observer mcp list --snippets.",
        programs=("cn",),
        folders=(".continue",),
    ),
    Client(name=generic.NAME, read=generic.read),
)
