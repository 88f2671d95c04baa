"""Clients without hooks that we know: a row each. They report by the generic form, if at all."""

from __future__ import annotations

from observer.clients import generic
from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.file_edits import FileEdit
from observer.clients.config_files.json_entries import Servers
from observer.clients.parts import ConfigFile, installer_of
from observer.core.errors import ConfigInvalid


class _ContinueFile:
    """Continue's `config.yaml`: its CLI reads no server from any other file."""

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan that our server is in the list `mcpServers`, or no longer.

        Raises:
            ConfigInvalid: there is no configuration, or it cannot be changed.
        """
        from observer.clients.config_files import yaml_servers  # noqa: PLC0415 - 25 ms, of it alone

        change = yaml_servers.put_server if is_wanted else yaml_servers.drop_server
        path = context.place("CONTINUE_GLOBAL_DIR", ".continue") / "config.yaml"
        edit = yaml_servers.edit_yaml(path, lambda text: change(text, context))
        if is_wanted and edit.before is None:
            # With a file that names no models, Continue has none: without one it uses its defaults.
            raise ConfigInvalid(
                f"there is no {path}", hint="write one that names your models, then repeat"
            )
        return edit


CLIENTS = (
    # What its hooks are given is documented nowhere.
    Client(
        name="antigravity",
        read=generic.read,
        installer=installer_of(
            ConfigFile(
                lambda context: context.user_home / ".gemini" / "config" / "mcp_config.json",
                [Servers()],
            )
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
            ConfigFile(
                lambda context: (
                    context.place("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json"
                ),
                [Servers(("context_servers",))],
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
        installer=installer_of(_ContinueFile()),
        programs=("cn",),
        folders=(".continue",),
        tried="1.5.47",
    ),
    Client(name=generic.NAME, read=generic.read),
)
