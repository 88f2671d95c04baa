"""Codex CLI: its hook payloads, and its configuration."""

from observer.clients.client import Client, prompt_sample

CLIENT = Client(
    name="codex",
    decoder="observer.clients.codex.decode:read",
    installer="observer.clients.codex.install",
    hooks_check="observer.clients.codex.trust:check_hooks",
    programs=("codex",),
    folders=(".codex",),
    transcripts=(".codex/sessions",),
    tried="0.169.0",
    sample=prompt_sample("UserPromptSubmit"),
    session_variable="CODEX_THREAD_ID",
    marker_variables=("CODEX_SANDBOX",),
    has_plugin=True,
    context_file="CONTEXT.codex.md",
)
