"""Claude Code: its hook payloads, and its configuration."""

from observer.clients.client import Client, prompt_sample

CLIENT = Client(
    name="claude-code",
    decoder="observer.clients.claude_code.decode:read",
    host="observer.clients.claude_code.decode:host",
    installer="observer.clients.claude_code.install",
    hooks_check="observer.clients.claude_code.install:check_hooks",
    per_project=True,
    programs=("claude",),
    folders=(".claude", ".claude.json"),
    transcripts=(".claude/projects",),
    tried="2.1.330",
    sample=prompt_sample("UserPromptSubmit"),
    session_variable="CLAUDE_CODE_SESSION_ID",
    marker_variables=("CLAUDECODE",),
    has_plugin=True,
    context_file="CONTEXT.claude-code.md",
)
