"""Qwen Code: hooks of `settings.json`, in the form of Claude Code's, with the tools of Gemini CLI.

Source: payloads of 0.24.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from observer.clients import parts
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.envelope import Object
from observer.clients.payload import text
from observer.clients.shelf import gemini
from observer.core.events import AnyBody, Prompt

NAME = "qwen"

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse and PostToolUseFailure repeat the input and know the end",
    "PostToolBatch": "PostToolUse reports each call of the batch",
    "PreCompact": "PostCompact reports it, if it came to that",
    "MessageDisplay": "fragments of what Stop reports whole",
    "Notification": "the client waiting for somebody is not an event",
    "PermissionRequest": "the answer is what happens next",
    "UserPromptExpansion": "UserPromptSubmit reports the prompt",
    "InstructionsLoaded": "the same files at every start",
}
"""Events of which nothing is kept, and why."""


def _prompt(payload: Object) -> AnyBody | None:
    """Return what the person asked; every further request of the turn has an empty prompt."""
    asked = text(payload, "submitted_prompt", "prompt")
    return Prompt(text=asked) if asked else None


_DIALECT = Dialect(
    client=NAME,
    tools=gemini.TOOLS,
    noise=NOISE,
    readers={"UserPromptSubmit": _prompt},
    correct=gemini.correct,
    session_variable="QWEN_CODE_SESSION_ID",
)


# --- how it is installed -------------------------------------------------------------------------

# No names: two handlers with one name are one to Qwen Code.
HOOKS = parts.OurHooks(
    client=NAME,
    reporting=parts.seconds("SessionStart", 10)
    | parts.seconds("UserPromptSubmit PostToolUse PostToolUseFailure Stop", 5)
    | parts.seconds("SubagentStop PostCompact SessionEnd", 5),
    recalling={
        "PostToolUse": {"matcher": "run_shell_command"},
        "PostToolUseFailure": {"matcher": "run_shell_command"},
    },
    matchers={"PostToolUse": "*", "PostToolUseFailure": "*"},
)


_settings = parts.placed("QWEN_HOME", ".qwen", "settings.json")

CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        installer=parts.installer_of(
            parts.ConfigFile(_settings, [HOOKS, parts.Servers()]),
            notes=["Restart Qwen Code; it reads its settings when it starts."],
        ),
        check_hooks=partial(parts.check_switch, _settings, ("disableAllHooks",), off=True),
        programs=("qwen",),
        folders=(".qwen",),
        transcripts=(".qwen/projects",),
        tried="0.24.4",
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="QWEN_CODE_SESSION_ID",
        marker_variables=("QWEN_CODE",),
        resume="qwen --resume {}",
        context_file="CONTEXT.qwen.md",
    ),
)
