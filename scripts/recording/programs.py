"""The clients that can be led through the session: where npm has them, and how to run them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

Write: TypeAlias = Callable[[Path, str], None]
"""Writes what a client needs to find its model: given the user's home, and the model's address."""


class Program(NamedTuple):
    """How to run a client without a terminal.

    Attributes:
        package: its name at npm.
        command: its command in `node_modules/.bin`.
        arguments: of the command; `{prompt}` and `{url}` are filled in, the latter is the model's.
        environ: variables; `{url}` as above.
        configure: writes files, after `observer install`; None where variables are enough.
        sessions: the files below the user's home in which it keeps its sessions.
        tables: of these files where they are SQLite databases, the tables that hold the sessions.
        omits: of lines of these files, marks of those that hold the client's own prompts.
    """

    package: str
    command: str
    arguments: tuple[str, ...]
    environ: Mapping[str, str]
    configure: Write | None = None
    sessions: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    omits: tuple[str, ...] = ()


def _add(file: Path, more: Mapping[str, object]) -> None:
    """Add settings to a JSON file that `observer install` has written."""
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}))


def _configure_gemini(home: Path, _url: str) -> None:
    chosen = {"auth": {"selectedType": "gemini-api-key"}}
    _add(home / ".gemini" / "settings.json", {"security": chosen})


def _configure_qwen(home: Path, _url: str) -> None:
    _add(home / ".qwen" / "settings.json", {"security": {"auth": {"selectedType": "openai"}}})


def _configure_opencode(home: Path, url: str, name: str = "opencode") -> None:
    model = {"name": "Stand-in", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "stand-in"},
        "models": {"stand-in": model},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "standin/stand-in",
        "small_model": "standin/stand-in",
        "provider": {"standin": provider},
        "permission": {"edit": "allow", "bash": "allow"},
    }
    _add(home / ".config" / name / f"{name}.json", settings)


def _configure_kilo(home: Path, url: str) -> None:
    _configure_opencode(home, url, "kilo")


def _configure_pi(home: Path, url: str) -> None:
    model = {"id": "stand-in", "name": "Stand-in", "contextWindow": 200000, "maxTokens": 8000}
    costs = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "stand-in",
        "models": [{**model, "reasoning": False, "input": ["text"], "cost": costs}],
    }
    settings = home / ".pi" / "agent" / "models.json"
    settings.write_text(json.dumps({"providers": {"standin": provider}}))


def _configure_cline(home: Path, url: str) -> None:
    name = "openai-compatible"
    chosen = {"provider": name, "apiKey": "stand-in", "model": "stand-in", "baseUrl": f"{url}/v1"}
    known = {name: {"settings": chosen, "updatedAt": "2026-01-01T00:00:00Z"}}
    settings = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": known}
    file = home / ".cline" / "data" / "settings" / "providers.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))


def _configure_droid(home: Path, url: str) -> None:
    model = {
        "model": "stand-in",
        "displayName": "Stand-in",
        "baseUrl": f"{url}/v1",
        "apiKey": "stand-in",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8000,
    }
    more = {"customModels": [model], "enableDroidShield": False}
    _add(home / ".factory" / "settings.json", more)


_OPENCODE = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
_TABLES = ("session", "message", "part")

PROGRAMS: Mapping[str, Program] = {
    "claude-code": Program(
        package="@anthropic-ai/claude-code",
        command="claude",
        arguments=(
            *("-p", "{prompt}", "--model", "claude-sonnet-4-5"),
            *("--allowedTools", "Read", "Edit", "Bash", "mcp__observer__search"),
        ),
        environ={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "stand-in",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        sessions=(".claude/projects/*/*.jsonl",),
        omits=('"type":"attachment"', '"type":"api-request'),
    ),
    "codex": Program(
        package="@openai/codex",
        command="codex",
        arguments=(
            *("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
            "--dangerously-bypass-approvals-and-sandbox",
            *("-c", "model=gpt-5.5", "-c", "model_provider=standin"),
            *("-c", "model_providers.standin.name=Stand-in"),
            *("-c", "model_providers.standin.wire_api=responses"),
            *("-c", "model_providers.standin.env_key=OPENAI_API_KEY"),
            *("-c", "model_providers.standin.base_url={url}/v1", "{prompt}"),
        ),
        environ={"OPENAI_API_KEY": "stand-in"},
        sessions=(".codex/sessions/*/*/*/*.jsonl",),
        omits=('"role":"developer"', '"type":"tool_search_output"', '"type":"world_state"'),
    ),
    "copilot": Program(
        package="@github/copilot",
        command="copilot",
        arguments=("-p", "{prompt}", "--allow-all-tools", "--add-dir", "."),
        environ={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "stand-in",
            "COPILOT_MODEL": "stand-in",
            "COPILOT_AUTO_UPDATE": "false",
        },
        sessions=(".copilot/session-state/*/events.jsonl",),
    ),
    "gemini": Program(
        package="@google/gemini-cli",
        command="gemini",
        arguments=("-p", "{prompt}", "--approval-mode", "yolo", "--skip-trust"),
        environ={"GEMINI_API_KEY": "stand-in", "GOOGLE_GEMINI_BASE_URL": "{url}"},
        configure=_configure_gemini,
        sessions=(".gemini/tmp/*/chats/*.jsonl", ".gemini/tmp/*/.project_root"),
    ),
    "qwen": Program(
        package="@qwen-code/qwen-code",
        command="qwen",
        arguments=("-p", "{prompt}", "--approval-mode", "yolo"),
        environ={
            "OPENAI_API_KEY": "stand-in",
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "stand-in",
        },
        configure=_configure_qwen,
        sessions=(".qwen/projects/*/chats/*.jsonl",),
    ),
    "opencode": Program(
        package="opencode-ai",
        command="opencode",
        arguments=("run", "{prompt}"),
        environ=_OPENCODE,
        configure=_configure_opencode,
        sessions=(".local/share/opencode/opencode.db",),
        tables=_TABLES,
    ),
    "kilo": Program(
        package="@kilocode/cli",
        command="kilo",
        arguments=("run", "{prompt}"),
        environ={**_OPENCODE, "KILO_DISABLE_MODELS_FETCH": "1"},
        configure=_configure_kilo,
        sessions=(".local/share/kilo/kilo.db",),
        tables=_TABLES,
    ),
    "cline": Program(
        package="cline",
        command="cline",
        arguments=("{prompt}",),
        environ={"TERM": "xterm-256color"},
        configure=_configure_cline,
        sessions=(".cline/data/sessions/*/*.json",),
    ),
    "droid": Program(
        package="droid",
        command="droid",
        arguments=("exec", "--skip-permissions-unsafe", "-m", "custom:stand-in", "{prompt}"),
        environ={"FACTORY_API_KEY": "fk-stand-in", "TERM": "xterm-256color"},
        configure=_configure_droid,
        sessions=(".factory/sessions/*/*.jsonl",),
        omits=('"id":"context-',),
    ),
    "pi": Program(
        package="@earendil-works/pi-coding-agent",
        command="pi",
        arguments=("-p", "--provider", "standin", "--model", "stand-in", "{prompt}"),
        environ={"PI_OFFLINE": "1"},
        configure=_configure_pi,
        sessions=(".pi/agent/sessions/*/*.jsonl",),
    ),
}
"""By the client's name in the table of clients."""
