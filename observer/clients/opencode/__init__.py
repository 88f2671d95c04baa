"""OpenCode, and Kilo, its fork: what our plugin in them reports, and their configuration."""

from observer.clients.client import Client, HookSample, plain_text

_SAMPLE = HookSample(
    "chat.message",
    '{"input": {"sessionID": "@SESSION@"}, "directory": "@FOLDER@", "output": {"message":'
    ' {"role": "user"}, "parts": [{"type": "text", "text": "@TEXT@"}]}}',
)

CLIENTS = (
    # First, for its shells have the variables of OpenCode as well.
    Client(
        name="kilo",
        decoder="observer.clients.opencode.decode:read",
        installer="observer.clients.opencode.install:KILO",
        programs=("kilo",),
        folders=(".config/kilo", ".local/share/kilo"),
        transcripts=(".local/share/kilo",),
        tried="7.7.7",
        sample=_SAMPLE,
        session_variable="KILO_SESSION_ID",
        marker_variables=("KILO",),
        context_file="CONTEXT.kilo.md",
        format_reminder=plain_text,
    ),
    Client(
        name="opencode",
        decoder="observer.clients.opencode.decode:read",
        installer="observer.clients.opencode.install:OPENCODE",
        programs=("opencode",),
        folders=(".config/opencode", ".local/share/opencode"),
        transcripts=(".local/share/opencode",),
        tried="1.18.33",
        sample=_SAMPLE,
        session_variable="OPENCODE_SESSION_ID",
        marker_variables=("OPENCODE", "OPENCODE_CLIENT"),
        context_file="CONTEXT.opencode.md",
        format_reminder=plain_text,
    ),
)
