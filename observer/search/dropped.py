"""What a session knew, and the summary left out with which its client went on after a compaction.

Decisions, attempts that did not help, and checks that still fail: what an agent repeats or breaks
when its context no longer has it. Pure but for what is read of the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from observer.core.events import Compaction, Event
from observer.core.filters import Filters
from observer.core.model import KNOWLEDGE_TYPES, Item, Session
from observer.core.text import one_line
from observer.observations import project_state
from observer.observations.open_failures import OpenFailure
from observer.search.eligible import is_harmless, is_stale
from observer.store.reader import StoreReader

MOST_CHARS = 1_000
"""About 270 tokens; what does not fit is left out, the last first."""
LINE_CHARS = 240
MOST_OF_A_KIND = 20
KEPT = 0.5
"""Share of the words of a statement that a summary has which keeps it: a paraphrase keeps names."""
_WORD = re.compile(r"[^\W\d_]\w{3,}")
"""Shorter words mostly say nothing alone."""
_STEM = 5
"""Letters by which two words count as one: "retries" and "retry", "decided" and "decision"."""


def dropped(reader: StoreReader, event: Event, here: Filters) -> tuple[int, str] | None:
    """Return what the last summary of an event's session left out and still matters.

    The item of the compaction, and a line each. None where the client has not compacted its
    context, did not show what it kept, or kept all.
    """
    runs = reader.runs(event.client, event.session)
    session = reader.session(runs.get(here.project_id or 0, 0))
    found = _last(reader, session, here) if session else None
    if session is None or found is None:
        return None
    item, summary = found
    lines = (
        line
        for line, is_kept in _known(reader, session, item, summary, owner=here.owner)
        if not is_kept
    )
    said = _fitting(line for line in lines if is_harmless(line))
    return (item.id, "\n".join(said)) if said else None


def _last(reader: StoreReader, session: Session, here: Filters) -> tuple[Item, str] | None:
    """Return the item of a session's last compaction, and its whole summary."""
    of = Filters(project_id=here.project_id, session_id=session.id, types=("compaction",))
    item = next(iter(reader.recent(of, limit=1)), None)
    if item is None:
        return None
    at_ms = item.created_ms
    bodies = (
        recorded.event.body
        for recorded in reader.recorded_near(session.id, from_ms=at_ms, to_ms=at_ms)
    )
    summary = next((body.summary for body in bodies if isinstance(body, Compaction)), "")
    return (item, summary) if summary else None


def _known(
    reader: StoreReader, session: Session, compaction: Item, summary: str, *, owner: str
) -> Iterator[tuple[str, bool]]:
    """Yield what was known before a compaction as lines, and whether its summary has them."""
    stems = _stems(summary)
    state = project_state.decode(reader.project_state(session.project_id))
    for failure in state.failures:
        if session.id in failure.sessions and failure.since_ms < compaction.created_ms:
            said = one_line(f"still fails: {failure.head}: {failure.said}", LINE_CHARS)
            yield f"- {said} #{failure.item}", _names_failure(summary, stems, failure)
    since = Filters(
        project_id=session.project_id,
        until_ms=compaction.created_ms,
        owner=owner,
    )
    own = replace(since, kinds=("observation", "record"), session_id=session.id)
    noted = replace(
        since,
        kinds=("note",),
        since_ms=session.started_ms,
        trusted_at_ms=compaction.created_ms,
    )
    rejected, decided = ("rejected",), tuple(sorted(KNOWLEDGE_TYPES - {"rejected"}))
    for label, types in (("decided", decided), ("tried, did not help", rejected)):
        for of in (own, noted):
            found = reader.recent(replace(of, types=types), limit=MOST_OF_A_KIND)
            for item in filter(_stands, found):
                text = one_line(item.narrative or item.title, LINE_CHARS)
                yield f"- {label}: {text} #{item.id}", _share(text, stems) >= KEPT


def _stands(item: Item) -> bool:
    return not (item.suspicion or is_stale(item))


def _names_failure(summary: str, stems: frozenset[str], failure: OpenFailure) -> bool:
    names = [name.rpartition("::")[2] for name in failure.tests or failure.failing]
    if names:
        return any(name in summary for name in names)
    return _share(f"{failure.head} {failure.error or failure.said}", stems) >= KEPT


def _share(text: str, stems: frozenset[str]) -> float:
    own = _stems(text)
    return len(own & stems) / len(own) if own else 1.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM].lower() for word in _WORD.findall(text))


def _fitting(lines: Iterator[str]) -> list[str]:
    """Return the lines that fit, each once."""
    kept: list[str] = []
    left = MOST_CHARS
    for line in dict.fromkeys(lines):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept
