"""Gemini CLI: its hook payloads, and its configuration."""

from observer.clients.client import Client, hook_specific_output, prompt_sample


def _wrap_context(text: str) -> bytes:
    return hook_specific_output(text, "SessionStart")


CLIENT = Client(
    name="gemini",
    decoder="observer.clients.gemini.decode:read",
    installer="observer.clients.gemini.install:INSTALLER",
    hooks_check="observer.clients.gemini.install:check_hooks",
    programs=("gemini",),
    folders=(".gemini/settings.json", ".gemini/tmp"),
    transcripts=(".gemini/tmp",),
    tried="0.61.0",
    sample=prompt_sample("BeforeAgent"),
    session_variable="GEMINI_SESSION_ID",
    marker_variables=("GEMINI_CLI",),
    has_plugin=True,
    context_file="CONTEXT.gemini.json",  # plain text would be shown to the person
    wrap_context=_wrap_context,
)
