"""Pi: an extension; it has no MCP of its own."""

from __future__ import annotations

from pathlib import Path

from observer.clients import script_file
from observer.config_files.context import InstallContext, InstallPlan

NAME = "pi"

_EXTENSION = Path(__file__).with_name("extension.js")


def install(context: InstallContext) -> InstallPlan:
    """Plan the extension.

    Raises:
        ConfigInvalid: an extension of somebody else is called as ours is.
    """
    code = script_file.javascript(NAME, _EXTENSION, context)
    return InstallPlan(
        edits=(script_file.put(_path(context), code),),
        notes=(
            "Restart Pi; it loads extensions when it starts.",
            "Pi has no MCP: its agent can run `observer search` and `observer why` in its shell.",
        ),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan its removal."""
    return InstallPlan(edits=(script_file.drop(_path(context), context),))


def _path(context: InstallContext) -> Path:
    return context.place("PI_CODING_AGENT_DIR", ".pi/agent") / "extensions" / "observer.js"
