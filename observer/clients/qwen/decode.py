"""Qwen Code: hooks of `settings.json`, in the form of Claude Code's, with the tools of Gemini CLI.

Source: payloads of 0.24.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients import claude_events, gemini_tools
from observer.clients.claude_events import Dialect
from observer.clients.envelope import Envelope, Object
from observer.clients.payload import text
from observer.core.events import AnyBody, Event, Prompt

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


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    return claude_events.read(envelope, payload, _DIALECT)


def _prompt(payload: Object) -> AnyBody | None:
    """Return what the person asked; every further request of the turn has an empty prompt."""
    asked = text(payload, "submitted_prompt", "prompt")
    return Prompt(text=asked) if asked else None


_DIALECT = Dialect(
    client="qwen",
    tools=gemini_tools.TOOLS,
    noise=NOISE,
    readers={"UserPromptSubmit": _prompt},
    correct=gemini_tools.correct,
    session_variable="QWEN_CODE_SESSION_ID",
)
