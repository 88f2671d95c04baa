"""The importers of sessions: one row each."""

from __future__ import annotations

from collections.abc import Mapping

from observer.importers import (
    cline,
    cline_tasks,
    copilot,
    cursor,
    cursor_agent,
    droid,
    gemini,
    opencode,
    pi,
    qwen,
)
from observer.importers.chats import CHATS
from observer.importers.checkpoints import ENTIRE
from observer.importers.claude_code import sessions as claude_code
from observer.importers.codex import sessions as codex
from observer.importers.git_ai import GIT_AI
from observer.importers.memory_files import MEMORY_FILES
from observer.importers.peers.memex import MEMEX
from observer.importers.peers.notes import NOTE_STORES
from observer.importers.peers.observations import OBSERVATIONS
from observer.importers.shells.commands import SHELLS
from observer.importers.source import SessionSource
from observer.importers.specstory import SPECSTORY

SOURCES: Mapping[str, SessionSource] = {
    source.name: source
    for source in (
        SessionSource(
            "claude-code",
            ".claude",
            "CLAUDE_CONFIG_DIR",
            "projects",
            find=claude_code.find,
            read=claude_code.read,
        ),
        SessionSource(
            "codex", ".codex", "CODEX_HOME", "sessions", find=codex.find, read=codex.read
        ),
        SessionSource(
            "gemini", ".", "GEMINI_CLI_HOME", ".gemini/tmp", find=gemini.find, read=gemini.read
        ),
        SessionSource(
            "copilot",
            ".copilot",
            "COPILOT_HOME",
            "session-state",
            find=copilot.find,
            read=copilot.read,
        ),
        SessionSource(
            "cline", ".cline", "CLINE_DIR", "data/sessions", find=cline.find, read=cline.read
        ),
        SessionSource(
            "cline-extension",
            cline_tasks.FOLDER,
            "",
            cline_tasks.TASKS,
            find=cline_tasks.find,
            read=cline_tasks.read,
        ),
        SessionSource("cursor", cursor.FOLDER, "", cursor.FILE, find=cursor.find, read=cursor.read),
        SessionSource(
            "cursor-agent",
            ".cursor",
            "",
            "projects",
            find=cursor_agent.find,
            read=cursor_agent.read,
        ),
        SessionSource("droid", ".factory", "", "sessions", find=droid.find, read=droid.read),
        opencode.source("opencode"),
        opencode.source("kilo"),
        SessionSource(
            "pi", ".pi/agent", "PI_CODING_AGENT_DIR", "sessions", find=pi.find, read=pi.read
        ),
        SessionSource("qwen", ".qwen", "QWEN_HOME", "projects", find=qwen.find, read=qwen.read),
        SPECSTORY,
        *CHATS,
        ENTIRE,
        GIT_AI,
        *OBSERVATIONS,
        *NOTE_STORES,
        MEMEX,
        MEMORY_FILES,
        *SHELLS,
    )
}
