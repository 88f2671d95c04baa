"""The importers of sessions: one row each."""

from __future__ import annotations

from collections.abc import Mapping

from observer.importers.claude_code import sessions as claude_code
from observer.importers.codex import sessions as codex
from observer.importers.memory_files import MEMORY_FILES
from observer.importers.shells.commands import SHELLS
from observer.importers.source import SessionSource

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
        MEMORY_FILES,
        *SHELLS,
    )
}
