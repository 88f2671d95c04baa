"""Quill, a made-up agent, as a client of observer: the record that observer finds."""

from observer.clients.client import Client, HookSample

CLIENT = Client(
    name="quill",
    decoder="observer_quill.decode:read",
    installer="observer_quill.install",
    programs=("quill",),
    folders=(".quill",),
    sample=HookSample("prompt", '{"run": "@SESSION@", "dir": "@FOLDER@", "text": "@TEXT@"}'),
    session_variable="QUILL_RUN",
    context_file="CONTEXT.quill.md",
)
