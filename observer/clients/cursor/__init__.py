"""Cursor: its hook payloads, and its configuration."""

import orjson

from observer.clients.client import Client, prompt_sample


def _wrap_context(text: str) -> bytes:
    return orjson.dumps({"additional_context": text})


def _format_reminder(text: str, _event: str) -> bytes:
    return orjson.dumps({"continue": True, "additional_context": text})


CLIENT = Client(
    name="cursor",
    decoder="observer.clients.cursor.decode:read",
    installer="observer.clients.cursor.install",
    per_project=True,
    programs=("cursor", "cursor-agent"),
    folders=(".cursor", ".config/Cursor", "Library/Application Support/Cursor"),
    transcripts=(".cursor/projects", ".cursor/chats"),
    sample=prompt_sample(
        "beforeSubmitPrompt", conversation_id="@SESSION@", cursor_version="3.20.17"
    ),
    session_variable="CURSOR_CONVERSATION_ID",
    marker_variables=("CURSOR_AGENT",),
    # It runs the hooks installed for Claude Code beside its own, and reports an edit or a command
    # both as such and as a tool call.
    reports_twice=True,
    has_plugin=True,
    context_file="CONTEXT.cursor.json",
    wrap_context=_wrap_context,
    format_reminder=_format_reminder,
)
