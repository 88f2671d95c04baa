"""Continue: the MCP server in the list `mcpServers` of `config.yaml`."""

from __future__ import annotations

from pathlib import Path

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.yaml_servers import drop_server, edit_yaml, put_server
from observer.core.errors import ConfigInvalid


def install(context: InstallContext) -> InstallPlan:
    """Plan the MCP server.

    Raises:
        ConfigInvalid: there is no configuration, or it cannot be changed.
    """
    path = _path(context)
    edit = edit_yaml(path, lambda text: put_server(text, context))
    if edit.before is None:
        # With a file that names no models, Continue has none: without one it uses its defaults.
        raise ConfigInvalid(
            f"there is no {path}", hint="write one that names your models, then repeat"
        )
    return InstallPlan(edits=(edit,))


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan its removal."""
    return InstallPlan(edits=(edit_yaml(_path(context), lambda text: drop_server(text, context)),))


def _path(context: InstallContext) -> Path:
    return context.place("CONTINUE_GLOBAL_DIR", ".continue") / "config.yaml"
