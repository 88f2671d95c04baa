"""Devin CLI: Claude Code's hooks without a folder, which stands in `DEVIN_PROJECT_DIR`.

Source: the client's documentation for 3000.10; no payload was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import structs

from observer.clients import tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, context_output, prompt_sample
from observer.clients.config_files.context import InstallContext
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import ConfigFile, OurHooks, Servers, installer_of, seconds
from observer.core.events import Event

NAME = "devin"

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse repeats the input and knows the end",
    "PermissionRequest": "the answer is what happens next",
}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="exec",
    read="read",
    write="write",
    edit="edit",
    grep="grep",
    find="glob",
    delegate="run_subagent",
)


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    project = envelope.env.get("DEVIN_PROJECT_DIR")
    for event in _DIALECT.read(envelope, payload):
        yield structs.replace(event, cwd=project, roots=(project,)) if project else event


_DIALECT = Dialect(client=NAME, tools=TOOLS, noise=NOISE, aliases={"PostCompaction": "PostCompact"})


# --- how it is installed -------------------------------------------------------------------------

# Seconds. An event that the installed version does not know voids all hooks, so only the documented
# ones are registered.
HOOKS = OurHooks(
    client=NAME,
    reporting=seconds("SessionStart", 10)
    | seconds("UserPromptSubmit PostToolUse PostCompaction Stop SessionEnd", 5),
    matchers={"PostToolUse": ".*"},
)


def _settings(context: InstallContext) -> Path:
    return context.place("XDG_CONFIG_HOME", ".config") / "devin" / "config.json"


CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=installer_of(
            ConfigFile(_settings, [HOOKS, Servers()]), notes=["Restart Devin CLI."]
        ),
        programs=("devin",),
        folders=(".config/devin",),
        sample=prompt_sample("UserPromptSubmit"),
        marker_variables=("DEVIN_PROJECT_DIR",),
        resume="devin --resume {}",
        reports_twice=True,  # it runs the hooks that a repository has for Claude Code
        context_file="CONTEXT.devin.json",
        wrap_context=context_output,
    ),
)
