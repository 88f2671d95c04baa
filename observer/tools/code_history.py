"""Render the history of a piece of code as text: one paragraph per change, an id per item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from observer.core.model import Item, Session
from observer.core.moment import minute
from observer.git.agent_marks import AgentMark
from observer.memory.code_questions import CodeAnswer
from observer.search.code_history import ATTEMPTS, CodeChange
from observer.tools.labels import with_suspicion
from observer.tools.render import SNIPPET_CHARACTERS, heading, one_line

NOT_REMEMBERED = "no session is remembered from then"
HASH_CHARS = 10
MESSAGE_CHARS = 500


def why(answer: CodeAnswer) -> str:
    """Return the answer, newest change first."""
    lines = [_subject(answer)]
    total = answer.piece.last - answer.piece.first + 1 if answer.piece.first else 0
    for change in answer.changes:
        lines += ["", *_change(change, total=total)]
    if answer.left_out:
        lines += ["", f"({answer.left_out} older commits are left out; narrow the lines)"]
    if answer.red:
        red = (f"  #{one.item.id} {one.failure.head}: {one.failure.said}" for one in answer.red)
        lines += ["", "checks that fail and name it", *map(one_line, red)]
    if answer.notes:
        lines += ["", "notes that name it", *(f"  {heading(note)}" for note in answer.notes)]
    return "\n".join(lines)


def _subject(answer: CodeAnswer) -> str:
    at = answer.piece
    place = f"{at.path}:{at.first}" if at.first else at.path
    span = f"{place}-{at.last}" if at.last > at.first else place
    symbol = f" {at.symbol}" if at.symbol else ""
    where = answer.project or f"{at.root}, of which nothing is remembered"
    return f"{span}{symbol} in {where}"


def _change(change: CodeChange, *, total: int) -> Iterator[str]:
    yield _origin(change, total=total)
    if change.commit and change.commit.narrative:
        yield f"  {'said':9} {one_line(change.commit.narrative, MESSAGE_CHARS)}"
    yield from (f"  {'session':9} {_session(one)}" for one in change.sessions)
    yield from (f"  {'committed':9} {_session(one)}" for one in change.committers)
    if not change.sessions:
        yield f"  {'session':9} {NOT_REMEMBERED}"
    for mark in change.marks:
        yield f"  {'agent':9} {mark_line(mark)}"
    if change.reason:
        yield f"  {'sure':9} {change.sureness}: {change.reason}"
    yield from _item_lines("asked", change.asked)
    yield from _item_lines("edited", change.edits)
    yield from _item_lines("tried", change.tried)
    yield from _item_lines("checked", change.checks)


def _session(session: Session) -> str:
    name = one_line(session.external, 40)
    return f"{session.client} {name}, {minute(session.started_ms)}"


def _origin(change: CodeChange, *, total: int) -> str:
    origin = change.origin
    share = f" · {origin.lines} of {total} lines" if total > 1 else ""
    if origin.similar:
        share = f" · made none of the lines; {origin.similar} of {total} look like its own"
    if not change.is_committed:
        return f"not committed yet{share}"
    item = f"#{change.commit.id} " if change.commit else ""
    subject, author = one_line(origin.subject, 100), one_line(origin.author, 40)
    made = f"{minute(origin.authored_ms)} by {author}"
    return f"{item}commit {origin.hash[:HASH_CHARS]} {subject} · {made}{share}"


def mark_line(mark: AgentMark) -> str:
    """Return a claim of a commit in one line: who, and where it says so."""
    who = " ".join(filter(None, (mark.tool or "an agent", mark.model)))
    session = f", session {mark.session[:40]}" if mark.session else ""
    match mark.source:
        case "git-ai":
            lines = f"{mark.lines} line{'s' * (mark.lines != 1)}"
            where = f"{lines} by a git-ai note"
        case "entire":
            where = f"Entire-Checkpoint {mark.checkpoint}"
        case "co-authored-by":
            where = "Co-Authored-By"
        case "assisted-by":
            where = "Assisted-by"
    return f"{who}{session}: {where}"


def _item_lines(label: str, items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        yield f"  {label:9} #{item.id} {item_line(item)}"


def item_line(item: Item) -> str:
    """Return an item in one line: the outcome of a command, the change of a file, a prompt."""
    text = item.title if item.type == "turn" else item.narrative
    # The outcome of an attempt is at the end of its text.
    limit = MESSAGE_CHARS if item.type in ATTEMPTS else SNIPPET_CHARACTERS
    return with_suspicion(item, one_line(text or item.title, limit))
