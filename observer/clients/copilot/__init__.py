"""GitHub Copilot CLI: its hook payloads, and its configuration."""

import orjson

from observer.clients.client import Client, prompt_sample


def _wrap_context(text: str) -> bytes:
    return _format_reminder(text, "SessionStart")


def _format_reminder(text: str, event: str) -> bytes:
    # Copilot CLI reads the outer field, VS Code, which runs the same hooks, the inner one.
    inner = {"hookEventName": event, "additionalContext": text}
    return orjson.dumps({"additionalContext": text, "hookSpecificOutput": inner})


CLIENT = Client(
    name="copilot",
    decoder="observer.clients.copilot.decode:read",
    host="observer.clients.copilot.decode:host",
    installer="observer.clients.copilot.install",
    programs=("copilot",),
    folders=(".copilot",),
    transcripts=(".copilot/session-state",),
    tried="1.0.102",
    sample=prompt_sample("UserPromptSubmit"),
    session_variable="COPILOT_AGENT_SESSION_ID",
    marker_variables=("COPILOT_CLI",),
    context_file="CONTEXT.copilot.json",
    wrap_context=_wrap_context,
    format_reminder=_format_reminder,
)
