"""What models read and wrote, as clients report it with each turn, by session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from observer.core.events import Reply, SessionStart
from observer.core.model import Session
from observer.core.value import TokenUsage, Value
from observer.store.reader import StoreReader

MOST_SESSIONS = 5_000


class Spent(Value):
    """What one turn used.

    `session` is the one that it counts for: that of who handed the work over. `model` is empty
    where the client does not name it.
    """

    session: Session
    at_ms: int
    model: str
    usage: TokenUsage


def spent(reader: StoreReader, since_ms: int, *, project_id: int | None = None) -> Iterator[Spent]:
    """Yield what turns since a time used, each once, by the session that was active last first.

    A session that was forked or resumed repeats earlier turns, with their times and counts.
    """
    sessions = reader.sessions(project_id=project_id, since_ms=since_ms, limit=MOST_SESSIONS)
    above = {(one.client, one.external): one for one in sessions}
    seen: set[tuple[str, int, TokenUsage]] = set()
    epoch = reader.epoch()
    for session in sessions:
        for at_ms, model, usage in _turns(reader, session, epoch):
            key = (session.client, at_ms, usage)
            if at_ms >= since_ms and key not in seen:
                seen.add(key)
                yield Spent(session=_root(session, above), at_ms=at_ms, model=model, usage=usage)


_Turn: TypeAlias = tuple[int, str, TokenUsage]
_KNOWN: dict[tuple[str, int, int, int], tuple[_Turn, ...]] = {}
"""What sessions used, by all that changes with them: to read it again costs 0.2 ms a session."""


def _turns(reader: StoreReader, session: Session, epoch: str) -> tuple[_Turn, ...]:
    key = (epoch, session.id, session.last_ms, session.events)
    if key not in _KNOWN:
        if len(_KNOWN) >= MOST_SESSIONS:
            _KNOWN.clear()
        _KNOWN[key] = tuple(_read(reader, session))
    return _KNOWN[key]


def _read(reader: StoreReader, session: Session) -> Iterator[_Turn]:
    began = ""
    for one in reader.recorded_near(session.id, from_ms=0, to_ms=session.last_ms, kind="reply"):
        body = one.event.body
        if isinstance(body, Reply) and body.usage:
            began = began or one.event.model or _model(reader, session)
            yield one.event.at_ms, one.event.model or began, body.usage


def _model(reader: StoreReader, session: Session) -> str:
    """Return the model that a session began with."""
    for one in reader.recorded_near(
        session.id, from_ms=session.started_ms, to_ms=session.last_ms, kind="session-start"
    ):
        if isinstance(one.event.body, SessionStart) and one.event.body.model:
            return one.event.body.model
    return ""


def _root(session: Session, known: dict[tuple[str, str], Session]) -> Session:
    """Return the session whose agents did the work of a session."""
    passed = {session.id}
    while (above := known.get((session.client, session.parent))) and above.id not in passed:
        session = above
        passed.add(session.id)
    return session
