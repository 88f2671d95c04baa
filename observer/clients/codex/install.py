"""Codex CLI: hooks in `hooks.json`, the MCP server in `config.toml`.

It runs a hook only after the user has approved it, and remembers that by the hook's place in the
file and its text: ours stand at the end, and an update keeps their places and those of others.
"""

from __future__ import annotations

from pathlib import Path

from observer.clients import hook_groups
from observer.clients.codex.trust import without_trust
from observer.clients.hook_groups import OurHooks
from observer.config_files import toml_servers
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import edit_json

HOOKS = OurHooks(
    client="codex",
    # Seconds; at the end of a session it waits 3 at most.
    reporting={
        "SessionStart": {"timeout": 10},
        "UserPromptSubmit": {"timeout": 5},
        "PostToolUse": {"timeout": 5},
        "Stop": {"timeout": 5},
        "SubagentStop": {"timeout": 5},
        "PostCompact": {"timeout": 5},
        "SessionEnd": {"timeout": 3},
    },
    recalling={
        "UserPromptSubmit": {},
        "PreToolUse": {"matcher": "^(Bash|apply_patch)$"},
        "PostToolUse": {"matcher": "^Bash$"},
    },
    asking={"timeout": 5},
    matchers={},
)


def install(context: InstallContext) -> InstallPlan:
    """Plan the hooks and the MCP server."""
    return InstallPlan(
        edits=(
            edit_json(_file(context, "hooks.json"), lambda text: _put(text, context)),
            toml_servers.edit_toml(
                _file(context, "config.toml"), lambda text: toml_servers.put_server(text, context)
            ),
        ),
        notes=("Start Codex and trust the hooks under /hooks: until then it skips them silently.",),
    )


def uninstall(context: InstallContext) -> InstallPlan:
    """Plan the removal of both."""
    return InstallPlan(
        edits=(
            edit_json(_file(context, "hooks.json"), lambda text: hook_groups.drop(text, context)),
            toml_servers.edit_toml(
                _file(context, "config.toml"),
                lambda text: toml_servers.drop_server(without_trust(text, context), context),
            ),
        )
    )


def _put(text: str, context: InstallContext) -> str:
    return hook_groups.put(text, HOOKS, context)


def _file(context: InstallContext, name: str) -> Path:
    return context.place("CODEX_HOME", ".codex") / name
