"""When a session begins, continues, ends and resumes.

The client reports the end of a session, or the daemon reports it as `idle`, as for a client that
died. An ended session becomes active again with the next event under its client's own session id.
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.core.events import Event, Prompt, SessionEnd, SessionStart
from observer.core.model import Recorded, Session
from observer.core.text import first_line, one_line
from observer.observations.prompts import words_of

SYNTHETIC = "ppid:"
"""Prefix of session ids made from a process id, for clients that send none."""
REUSED_AFTER_MS = 12 * 3_600_000
"""After this long without events a process id belongs to another process."""
_ONGOING = frozenset({"resume", "compact", "clear"})


def begin(recorded: Recorded) -> Session:
    """Return the session that begins with this event, which is not yet counted.

    If earlier events of it were purged or are too old, the session keeps its id.
    """
    event = recorded.event
    return Session(
        id=recorded.session_id or recorded.seq,
        external=event.session,
        client=event.client,
        project_id=recorded.project_id,
        cwd=event.cwd,
        branch=one_line(recorded.branch, 250),
        started_ms=event.at_ms,
        last_ms=event.at_ms,
    )


def continues(session: Session | None, event: Event) -> bool:
    """Return True if an event belongs to the newest session with its client's session id.

    A client's own id always resumes. An id made from a process id begins a new session after an
    end, after a second start, or after `REUSED_AFTER_MS` without events.
    """
    if session is None:
        return False
    if not event.session.startswith(SYNTHETIC):
        return True
    if session.ended_ms is not None:
        return event.at_ms <= session.ended_ms
    if isinstance(event.body, SessionStart) and event.body.source not in _ONGOING:
        return session.prompts == 0
    return event.at_ms - session.last_ms <= REUSED_AFTER_MS


def after(session: Session, recorded: Recorded) -> Session:
    """Return the session with one more event counted; its `state` is the caller's."""
    event = recorded.event
    session = replace(
        session,
        events=session.events + 1,
        started_ms=min(session.started_ms, event.at_ms),
        cwd=session.cwd or event.cwd,
        branch=one_line(recorded.branch, 250) or session.branch,
    )
    match event.body:
        case SessionEnd():
            return _ended(session, event.at_ms, is_idle=event.body.reason == "idle")
        case SessionStart() if event.body.parent_session:
            session = replace(session, parent=one_line(event.body.parent_session, 200))
        case Prompt() if shown := first_line(words_of(event.body.text), 300):
            session = replace(
                session, prompts=session.prompts + 1, first_prompt=session.first_prompt or shown
            )
    return _awake(session, event.at_ms)


def _ended(session: Session, at_ms: int, *, is_idle: bool) -> Session:
    if is_idle:
        # The daemon reports it long after the last event, which is when the session ended.
        return replace(session, status="idle", ended_ms=session.last_ms)
    last_ms = max(session.last_ms, at_ms)
    return replace(session, status="ended", ended_ms=last_ms, last_ms=last_ms)


def _awake(session: Session, at_ms: int) -> Session:
    """Return the session as active again, unless the event is from before its end."""
    last_ms = max(session.last_ms, at_ms)
    if session.ended_ms is not None and at_ms <= session.ended_ms:
        return replace(session, last_ms=last_ms)
    return replace(session, status="active", ended_ms=None, last_ms=last_ms)
