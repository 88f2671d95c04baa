"""Pi: what our extension in it reports, and where that is put."""

from observer.clients.client import Client, HookSample, plain_text

_SAMPLE = HookSample(
    "before_agent_start",
    '{"event":{"type":"before_agent_start","prompt":"@TEXT@"},'
    '"cwd":"@FOLDER@","sessionId":"@SESSION@"}',
)

CLIENT = Client(
    name="pi",
    decoder="observer.clients.pi.decode:read",
    installer="observer.clients.pi.install",
    programs=("pi",),
    folders=(".pi",),
    transcripts=(".pi/agent/sessions",),
    tried="0.74.2",
    sample=_SAMPLE,
    session_variable="PI_SESSION_ID",
    marker_variables=("PI_CODING_AGENT",),
    context_file="CONTEXT.pi.md",
    format_reminder=plain_text,
)
