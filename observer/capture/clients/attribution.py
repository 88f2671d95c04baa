"""Owns the answer to "whose shell was this?" for hooks that no client runs itself.

A git hook or a script inherits the variables that an agent sets in its shells; a person's shell
has our recorder's. The agent's is the nearer truth: it may have been started from that shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

_SESSIONS = (
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CURSOR_CONVERSATION_ID", "cursor"),
    ("KIRO_SESSION_ID", "kiro"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
)
_MARKS = (
    ("CLAUDECODE", "claude-code"),
    ("CURSOR_AGENT", "cursor"),
    ("CODEX_SANDBOX", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    ("COPILOT_CLI", "copilot"),
    ("OPENCODE", "opencode"),
    ("OPENCODE_CLIENT", "opencode"),
    ("CLINE_ACTIVE", "cline"),
    ("DEVIN_PROJECT_DIR", "devin"),
)
_NAMED = ("AI_AGENT", "AGENT")
_SHELLS = ("bash", "zsh", "fish")


class Attribution(NamedTuple):
    """Who did it: client and session are empty where nobody told."""

    client: str = ""
    session: str = ""
    author: Literal["person", "agent"] = "person"


def attribute(env: Mapping[str, str]) -> Attribution:
    """Name the client, its session and the kind of author from the hook's environment."""
    for variable, client in _SESSIONS:
        if env.get(variable):
            return Attribution(client, env[variable], "agent")
    for variable, client in _MARKS:
        if env.get(variable):
            return Attribution(client, "", "agent")
    for variable in _NAMED:
        if env.get(variable):
            return Attribution(env[variable], "", "agent")
    session = env.get("OBSERVER_SESSION", "")
    shell = session.partition("-")[0]
    return Attribution(shell if shell in _SHELLS else "", session, "person")
