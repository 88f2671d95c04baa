"""Clients without hooks that we know: a row each. They report by the generic form, if at all."""

from __future__ import annotations

from observer.clients import generic
from observer.clients.client import Client
from observer.clients.parts import Servers, config_file, installer_of, placed

CLIENTS = (
    # What its hooks are given is documented nowhere.
    Client(
        name="antigravity",
        read=generic.read,
        installer=installer_of(
            config_file(placed("", ".gemini", "config/mcp_config.json"), Servers().edited)
        ),
        programs=("agy", "antigravity"),
        folders=(".antigravity", ".gemini/antigravity"),
        marker_variables=("ANTIGRAVITY_AGENT",),
    ),
    # Agents that it runs have hooks of their own.
    Client(
        name="zed",
        read=generic.read,
        installer=installer_of(
            config_file(
                placed("XDG_CONFIG_HOME", ".config", "zed/settings.json"),
                Servers(("context_servers",)).edited,
            ),
            notes=[
                "Claude Code, Codex CLI and others run their own hooks in Zed: install those too."
            ],
        ),
        programs=("zed", "zeditor"),
        folders=(".config/zed",),
    ),
    Client(
        name="continue",
        read=generic.read,
        installer=installer_of(
            # As its source says; its editors read such files beside `config.yaml`, which is YAML.
            config_file(
                placed("CONTINUE_GLOBAL_DIR", ".continue", "mcpServers/observer.json"),
                Servers().edited,
            ),
            notes=["Its command, cn, reads config.yaml alone: see observer mcp list --snippets."],
        ),
        programs=("cn",),
        folders=(".continue",),
    ),
    Client(name=generic.NAME, read=generic.read),
)
