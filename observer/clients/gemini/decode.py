"""Gemini CLI: hooks of `settings.json`, with names of events of its own.

A tool call has no id, and no event says that it failed: a command's answer does, in words. Source:
payloads of 0.61.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from observer.clients import claude_events, gemini_tools
from observer.clients.claude_events import Dialect
from observer.clients.envelope import Envelope, Object
from observer.clients.payload import inner, text, token_usage
from observer.core.events import AnyBody, Event, Prompt, Reply

NOISE: Mapping[str, str] = {
    "BeforeTool": "AfterTool repeats the input and knows the end",
    "BeforeModel": "a request of the client's own",
    "AfterModel": "fragments of what AfterAgent reports whole",
    "BeforeToolSelection": "a request of the client's own",
    "PreCompress": "comes before every request, whether anything is compressed or not",
    "Notification": "the client waiting for somebody is not an event",
}
"""Events of which nothing is kept, and why."""

_CONTEXT = re.compile(r"\A<hook_context>[^<>]*</hook_context>\s*")
"""What the client puts before a prompt without a terminal: the context that hooks have printed."""


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    return claude_events.read(envelope, payload, _DIALECT)


def _prompt(payload: Object) -> AnyBody:
    return Prompt(text=_CONTEXT.sub("", text(payload, "prompt")))


def _reply(payload: Object) -> AnyBody:
    usage = token_usage(inner(payload, "usage"))  # of a session that is imported
    return Reply(text=text(payload, "prompt_response"), usage=usage)


_DIALECT = Dialect(
    client="gemini",
    tools=gemini_tools.TOOLS,
    noise=NOISE,
    aliases={"BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "AfterTool": "PostToolUse"},
    readers={"UserPromptSubmit": _prompt, "Stop": _reply},
    correct=gemini_tools.correct,
    session_variable="GEMINI_SESSION_ID",
)
