"""Attribution in the formats of others: Agent Trace 0.1, and notes of git-ai 3.0.0.

Only lines that recorded edits hold are named. Nothing of what was said is in them.
"""

from __future__ import annotations

import uuid
from typing import Any

from observer import __version__
from observer.core.model import iso
from observer.git.agent_marks import AiLines, AiSession, Contribution, format_note, session_key
from observer.memory.attribution import CommitShares, SessionShare

TRACE_VERSION = "0.1"
"""As the schema of Agent Trace has it; the text of its specification writes 0.1.0."""
_NAMESPACE = uuid.UUID("6f1d1f0c-4d0c-5b8e-9a53-0d6a7a7c6e55")


def agent_trace(made: CommitShares) -> dict[str, Any]:
    """Return the trace record of a commit; the same each time.

    Source: https://agent-trace.dev/schemas/v1/trace-record.json
    """
    files: dict[str, list[dict[str, Any]]] = {}
    for share in made.shares:
        files.setdefault(share.path, []).append(_conversation(share, made))
    return {
        "version": TRACE_VERSION,
        "id": str(uuid.uuid5(_NAMESPACE, made.commit.hash)),
        "timestamp": iso(made.commit.committed_ms),
        "vcs": {"type": "git", "revision": made.commit.hash},
        "tool": {"name": "observer", "version": __version__},
        "files": [{"path": path, "conversations": said} for path, said in files.items()],
    }


def _conversation(share: SessionShare, made: CommitShares) -> dict[str, Any]:
    model = made.models.get(share.session.id)
    return {
        "contributor": {"type": "ai", **({"model_id": model[:250]} if model else {})},
        "ranges": [{"start_line": first, "end_line": last} for first, last in share.ranges],
    }


def git_ai_note(made: CommitShares) -> str:
    """Return the note of a commit for `refs/notes/ai`."""
    sessions = {share.session.id: _session(share, made) for share in made.shares}
    lines = [
        AiLines(share.path, sessions[share.session.id].key, first, last)
        for share in made.shares
        for first, last in share.ranges
    ]
    parts = [
        Contribution(
            session=one,
            accepted=sum(line.last - line.first + 1 for line in lines if line.key == one.key),
            added=sum(share.added for share in made.shares if share.session.id == session_id),
            removed=sum(share.removed for share in made.shares if share.session.id == session_id),
        )
        for session_id, one in sessions.items()
    ]
    return format_note(made.commit.hash, lines, parts)


def _session(share: SessionShare, made: CommitShares) -> AiSession:
    session = share.session
    return AiSession(
        key=session_key(session.client, session.external),
        tool=session.client,
        id=session.external,
        model=made.models.get(session.id, ""),
        author=made.commit.author,
    )
