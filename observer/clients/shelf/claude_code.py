"""Claude Code: hooks of `settings.json`, one JSON object on standard input.

Key of a session is `session_id`; `agent_id` marks what a sub-agent did. Success and failure of a
tool are two events. Source: the client's hook reference, 2.1.240, and its SDK's types, 0.3.330.
Devin CLI has the same hooks without a folder, which stands in `DEVIN_PROJECT_DIR`. Source: the
client's documentation for 3000.10; no payload was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from observer.clients import parts, tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, hook_specific_output, prompt_sample
from observer.clients.config_files.context import InstallContext, InstallPlan
from observer.clients.envelope import Envelope, Object
from observer.clients.payload import joined, text
from observer.core.events import AnyBody, Custom, Event, Prompt
from observer.core.text import word_set

NAME, DEVIN = "claude-code", "devin"

NOISE = word_set(
    """
    PreToolUse PostToolBatch MessageDisplay Notification UserPromptExpansion PermissionRequest
    PreModelSwitch PostModelSwitch Setup TeammateIdle Elicitation ConfigChange InstructionsLoaded
    CwdChanged DirectoryAdded
    """
)

SYNTHETIC = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Sources of prompts that no person wrote: the client waking itself."""

_OWN_WORDS = re.compile(
    r"<(?:task-notification|system-reminder|local-command-\w+|command-(?:name|message|args)"
    r"|bash-(?:input|stdout|stderr))>"
)
"""How the client's own messages begin; older versions give no source and pass them as prompts."""
_REMINDERS = re.compile(r"\A(?:\s*<system-reminder>.*?</system-reminder>)+\s*(?=\S)", re.DOTALL)
"""What the client puts before the words of a person; only there, or blanks take quadratic time."""

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="Bash PowerShell",
    write="Write Replace",
    edit="Edit MultiEdit NotebookEdit NotebookEditCell",
    read="Read View ReadNotebook NotebookRead",
    find="Glob LS GlobTool",
    grep="Grep GrepTool",
    fetch="WebFetch",
    ask_web="WebSearch",
    delegate="Agent Task dispatch_agent",
)

_EDITORS = "mcp__acp__"
"""How the tools are called that an editor runs for the client, by the Agent Client Protocol."""
_EXIT = "Exit code "


def _host(envelope: Envelope, payload: Object) -> str:
    """Return who really ran the hook: several clients run the hooks installed for this one."""
    if "CURSOR_VERSION" in envelope.env or "cursor_version" in payload:
        return "cursor"
    if "DEVIN_PROJECT_DIR" in envelope.env:
        return DEVIN
    if "COPILOT_CLI" in envelope.env and "CLAUDECODE" not in envelope.env:
        return "copilot"
    if "sessionId" in payload:
        return "vscode" if "hookEventName" in payload else "copilot"
    return NAME


def _prompt(payload: Object) -> AnyBody | None:
    said = _REMINDERS.sub("", text(payload, "prompt"), count=1)
    is_synthetic = text(payload, "source") in SYNTHETIC or _OWN_WORDS.match(said) is not None
    return None if is_synthetic else Prompt(text=said)


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    """Name a tool as the client does, and part a failed command's first line from its output."""
    if call.tool.removeprefix(_EDITORS) in TOOLS:
        call = msgspec.structs.replace(call, tool=call.tool.removeprefix(_EDITORS))
    first, _, rest = call.error.partition("\n")
    digits = first.removeprefix(_EXIT).strip()
    if first.startswith(_EXIT) and digits.isdecimal() and len(digits) < 10:
        return msgspec.structs.replace(call, exit_code=int(digits), error=rest)
    return call


_DIALECT = Dialect(
    client=NAME,
    tools=TOOLS,
    noise=NOISE,
    readers={
        "UserPromptSubmit": _prompt,
        "StopFailure": lambda payload: Custom(
            name=f"{NAME}:StopFailure",
            text=joined(text(payload, "error"), text(payload, "error_details")),
        ),
    },
    correct=_correct,
    session_variable="CLAUDE_CODE_SESSION_ID",
)

# --- how it is installed -------------------------------------------------------------------------

# Seconds. Only PostToolUse comes often enough to be worth a background process; the others must
# be over before the client goes on, or goes away (`claude -p` kills background hooks at its end).
HOOKS = parts.Hooks(
    client=NAME,
    reporting=parts.seconds("SessionStart", 10)
    | parts.seconds("UserPromptSubmit", 5)
    | {"PostToolUse": {"async": True, "timeout": 30}}
    | parts.seconds("PostToolUseFailure Stop SubagentStop PostCompact SessionEnd", 5),
    # In the foreground, to be in time.
    recalling={
        "PreToolUse": "Bash|Edit|MultiEdit|Write",
        "PostToolUse": "Bash",
        "PostToolUseFailure": "Bash",
    },
    matchers={"PostToolUse": "*", "PostToolUseFailure": "*"},
)


def _settings(context: InstallContext) -> Path:
    if context.project:
        # What names paths of this machine stands in the settings that are not committed.
        return context.project / ".claude" / "settings.local.json"
    return context.place("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def _state(context: InstallContext) -> Path:
    if context.project:
        return context.project / ".mcp.json"
    return context.place("CLAUDE_CONFIG_DIR", ".") / ".claude.json"


_FILES = parts.installer_of(
    parts.config_file(_settings, HOOKS.edited),
    parts.config_file(_state, parts.Servers(extra={"type": "stdio"}).edited),
    notes=["Restart Claude Code. In a new workspace it runs no hooks before you trust the folder."],
)


def _install(context: InstallContext) -> InstallPlan:
    plan = _FILES(context)
    names = ".claude/settings.local.json and .mcp.json"
    note = f"Keep {names} out of git: they name paths of this machine."
    is_noted = context.project and context.is_wanted
    return replace(plan, notes=(*plan.notes, note)) if is_noted else plan


# --- Devin CLI -----------------------------------------------------------------------------------

_DEVIN = Dialect(
    client=DEVIN,
    tools=tools.by_name(
        command="exec",
        read="read",
        write="write",
        edit="edit",
        grep="grep",
        find="glob",
        delegate="run_subagent",
    ),
    noise={"PreToolUse", "PermissionRequest"},
    aliases={"PostCompaction": "PostCompact"},
)

# An event that the installed version does not know voids all hooks, so only the documented ones are
# registered.
DEVIN_HOOKS = parts.Hooks(
    client=DEVIN,
    reporting=parts.seconds("SessionStart", 10)
    | parts.seconds("UserPromptSubmit PostToolUse PostCompaction Stop SessionEnd", 5),
    matchers={"PostToolUse": ".*"},
)


def _read_devin(envelope: Envelope, payload: Object) -> Iterator[Event]:
    project = envelope.env.get("DEVIN_PROJECT_DIR")
    for event in _DEVIN.read(envelope, payload):
        yield (msgspec.structs.replace(event, cwd=project, roots=(project,)) if project else event)


_devin_settings = parts.placed("XDG_CONFIG_HOME", ".config", "devin/config.json")

CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        host=_host,
        installer=_install,
        check_hooks=partial(parts.check_switch, _settings, ("disableAllHooks",), off=True),
        per_project=True,
        programs=("claude",),
        folders=(".claude", ".claude.json"),
        transcripts=(".claude/projects",),
        tried="2.1.330",
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="CLAUDE_CODE_SESSION_ID",
        marker_variables=("CLAUDECODE",),
        resume="claude --resume {}",
        has_plugin=True,
        context_file="CONTEXT.claude-code.md",
    ),
    Client(
        name=DEVIN,
        read=_read_devin,
        installer=parts.installer_of(
            parts.config_file(_devin_settings, DEVIN_HOOKS.edited, parts.Servers().edited),
            notes=["Restart Devin CLI."],
        ),
        programs=("devin",),
        folders=(".config/devin",),
        sample=prompt_sample("UserPromptSubmit"),
        marker_variables=("DEVIN_PROJECT_DIR",),
        resume="devin --resume {}",
        reports_twice=True,  # it runs the hooks that a repository has for Claude Code
        context_file="CONTEXT.devin.json",
        wrap_context=partial(hook_specific_output, event="SessionStart"),
    ),
)
