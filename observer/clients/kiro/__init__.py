"""Kiro: the hook payloads of its CLI and IDE, and its configuration."""

from observer.clients.client import Client, prompt_sample

CLIENTS = (
    Client(
        name="kiro",
        decoder="observer.clients.kiro.decode:read",
        host="observer.clients.kiro.decode:host",
        installer="observer.clients.kiro.install",
        per_project=True,
        programs=("kiro", "kiro-cli"),
        folders=(".kiro",),
        transcripts=(".kiro/sessions",),
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="KIRO_SESSION_ID",
        reports_twice=True,  # it may run the hooks of two of its formats
        context_file="CONTEXT.kiro.md",
    ),
    Client(
        name="kiro-cli",
        decoder="observer.clients.kiro.cli:read",
        host="observer.clients.kiro.decode:host",
        reports_twice=True,
        context_file="CONTEXT.kiro-cli.md",
    ),
    Client(name="kiro-ide", decoder="observer.clients.kiro.ide:read", takes_json=False),
)
