"""When a session begins, goes on, ends and comes back.

Part of interpretation (step 6). A session ends by its client's word, or by the daemon's word
`idle`; one whose client died is closed by the latter. An ended session whose client speaks again
under its own id is active again.
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.core.events import Event, Prompt, SessionEnd, SessionStart
from observer.core.model import Recorded, Session
from observer.core.text import first_line, one_line
from observer.observations.prompts import words_of

SYNTHETIC = "ppid:"
"""How session ids begin that we made from a process id, for clients that have none."""
REUSED_AFTER_MS = 12 * 3_600_000
"""A process id this long silent belongs to another process."""
_ONGOING = frozenset({"resume", "compact", "clear"})


def begin(recorded: Recorded) -> Session:
    """Return the session of which this is the first event there is, which is not yet counted.

    Events before it may have been purged, or be too old: the session keeps its id.
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
    """Say whether an event belongs to the newest session of its client's session id.

    A client's real id always resumes. An id made from a process id begins a new session after an
    end, after a second start, or when it was silent so long that the number has been used again.
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
                session,
                prompts=session.prompts + 1,
                first_prompt=session.first_prompt or shown,
            )
    return _awake(session, event.at_ms)


def _ended(session: Session, at_ms: int, *, is_idle: bool) -> Session:
    if is_idle:
        # The daemon's word comes long after the last sign of life, which is when it ended.
        return replace(session, status="idle", ended_ms=session.last_ms)
    last_ms = max(session.last_ms, at_ms)
    return replace(session, status="ended", ended_ms=last_ms, last_ms=last_ms)


def _awake(session: Session, at_ms: int) -> Session:
    """Wake a session; an event from before its end is only a straggler."""
    last_ms = max(session.last_ms, at_ms)
    if session.ended_ms is not None and at_ms <= session.ended_ms:
        return replace(session, last_ms=last_ms)
    return replace(session, status="active", ended_ms=None, last_ms=last_ms)
