"""Qwen Code: its hook payloads, and its configuration."""

from observer.clients.client import Client, prompt_sample

CLIENT = Client(
    name="qwen",
    decoder="observer.clients.qwen.decode:read",
    installer="observer.clients.qwen.install:INSTALLER",
    hooks_check="observer.clients.qwen.install:check_hooks",
    programs=("qwen",),
    folders=(".qwen",),
    transcripts=(".qwen/projects",),
    tried="0.24.4",
    sample=prompt_sample("UserPromptSubmit"),
    session_variable="QWEN_CODE_SESSION_ID",
    marker_variables=("QWEN_CODE",),
    context_file="CONTEXT.qwen.md",
)
