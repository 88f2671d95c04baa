"""Droid, the agent of Factory: its hook payloads, and its configuration."""

from observer.clients.client import Client, prompt_sample

CLIENT = Client(
    name="droid",
    decoder="observer.clients.droid.decode:read",
    installer="observer.clients.droid.install",
    programs=("droid",),
    folders=(".factory",),
    transcripts=(".factory/sessions",),
    tried="0.225.2",
    sample=prompt_sample("UserPromptSubmit"),
    context_file="CONTEXT.droid.md",
)
