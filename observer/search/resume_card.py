"""The resume card: where the work stands, one fact a line, the most urgent first.

What the last session was asked, which checks fail, what is not committed, what comes next, which
notes hold here, and what others changed meanwhile. Each line has an id to fetch more by, and says
why it is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, SummaryFields
from observer.core.text import listed, named, quoted
from observer.core.value import Value
from observer.observations.session_commits import HASH_CHARS
from observer.search.eligible import (
    ENDS,
    WITHHELD,
    clean,
    discarded,
    is_harmless,
    is_of_here,
    is_stale,
    made_here,
)
from observer.search.recent_sessions import (
    FailingCheck,
    PastSession,
    RecentSessions,
    Uncommitted,
    UncommittedFile,
)
from observer.search.token_budget import CardFact, PackRequest
from observer.search.unasked import ranked
from observer.store.interface import StoreReader

MOST_RED, MOST_DIRTY, MOST_STEPS, MOST_REJECTED, MOST_NOTES_SHOWN, MOST_OTHERS = 3, 8, 4, 3, 8, 5
"""Lines of each sort that are offered to the budget."""
NAMES_SAID = 4
NOTES = 60
COMMITS = 100
NOTE_TYPES = (
    *("constraint", "rule", "decision", "preference", "heuristic", "rejected", "fact", "context"),
)
"""Notes that hold until somebody says otherwise."""

LAST, RED = "last session", "red when it ran last"
_ENDS = {"active": "still open", "ended": "ended", "idle": "broke off"}


class CardRequest(Value):
    """Whose card: `client` is empty where any client may read it; `owner` sees personal notes.

    `with_notes` adds the notes that hold here, for a reader who does not get them otherwise.
    """

    project_id: int
    now_ms: int
    client: str = ""
    owner: str = ""
    with_notes: bool = True


def resume_card(
    reader: StoreReader, request: CardRequest, *, uncommitted: Uncommitted | None = None
) -> list[CardFact]:
    """Return the lines of a project's card, the most urgent first; none where nothing happened.

    What reads like an order to a model is none of them.
    """
    return [
        line for line in _lines(reader, request, uncommitted) if is_harmless(line.why, line.text)
    ]


def _lines(
    reader: StoreReader, request: CardRequest, uncommitted: Uncommitted | None
) -> list[CardFact]:
    pasts = RecentSessions(reader, request.project_id)
    last = pasts.last(request.client)
    notes = _notes(reader, request)[:MOST_NOTES_SHOWN] if request.with_notes else []
    if last is None:
        return notes
    others = pasts.since(last)
    red = list(islice(pasts.red(now_ms=request.now_ms), MOST_RED))
    dirty = list(pasts.dirty(last, uncommitted))
    return [
        _asked(last),
        *(_red(each, last) for each in red),
        *_uncommitted(dirty, last),
        *(_step(past, step, last) for past, step in islice(pasts.steps(last), MOST_STEPS)),
        *(_of(last, "tried, did not help", tried) for tried in last.left.rejected[:MOST_REJECTED]),
        *notes,
        *[_changed(other) for other in others][:MOST_OTHERS],
        *list(_committed(reader, request, last, others))[:MOST_OTHERS],
        *_outcome(last),
    ]


def _asked(last: PastSession) -> CardFact:
    session = last.session
    where = f" on {named(session.branch)}" if clean(session.branch) else ""
    asked = clean(last.left.request) or clean(last.summary.title) or WITHHELD
    text = f"{session.client}{where}, {_ENDS[session.status]}: {asked}"
    return _of(last, LAST, text, at_ms=session.last_ms)


def _red(red: FailingCheck, last: PastSession) -> CardFact:
    """Return what fails, at the time of its last run, and what nobody has run it on since."""
    failure = red.failure
    why = RED
    if red.past is not last and failure.client != last.session.client:
        why += f", {failure.client}"
    tests = tuple(filter(clean, failure.tests or failure.failing))
    unsaid = [test for test in tests if test not in failure.error]
    parts = [clean(failure.said), listed(unsaid, NAMES_SAID), clean(failure.error)]
    if failure.is_unread:
        parts.append("run again since, and nothing shows how that ended")
    if failure.changed:
        parts.append(f"changed since and not run again: {_names(failure.changed)}")
    is_here = failure.branch == last.session.branch
    where = "" if is_here else f" on {named(failure.branch)}"
    text = f"{failure.head}{where}: {'; '.join(filter(None, parts))}".removesuffix(": ")
    return CardFact(
        item=red.item.id,
        why=why,
        text=text,
        at_ms=failure.last_ms,
        red=failure.head if is_here else "",
    )


def _uncommitted(dirty: Sequence[UncommittedFile], last: PastSession) -> Iterator[CardFact]:
    why = "not committed" if all(each.is_certain for each in dirty) else "no commit known"
    for path, past, item in ((each.path, each.past, each.item) for each in dirty[:MOST_DIRTY]):
        changed = ", ".join(item.facts[1:NAMES_SAID]) if item.facts[:1] == (path,) else ""
        who = "" if past is last else f", changed by {past.session.client}"
        text = f"{named(path)} ({changed})" if changed else named(path)
        yield CardFact(item=item.id, why=f"{why}{who}", text=text)
    if more := dirty[MOST_DIRTY:]:
        text = f"{len(more)} more: {_names([each.path for each in more], most=2 * NAMES_SAID)}"
        yield CardFact(item=more[0].past.summary.id, why=why, text=text)


def _step(past: PastSession, step: str, last: PastSession) -> CardFact:
    why = "next step" if past is last else f"next step of {past.session.client} before"
    return _of(past, why, step, at_ms=0 if past is last else past.session.last_ms)


def _notes(reader: StoreReader, request: CardRequest) -> list[CardFact]:
    """Return what holds here, as a context pack ranks it: rules first, and last what is stale."""
    asked = PackRequest(
        project_id=request.project_id, budget_tokens=0, now_ms=request.now_ms, owner=request.owner
    )
    ids = reader.ids(replace(asked.filters("note"), types=NOTE_TYPES), limit=NOTES)
    found = ranked(reader, asked, ids)
    hits = [hit for hit in found if hit.item.type in NOTE_TYPES and is_of_here(hit.item)]
    hits.sort(key=lambda hit: (is_stale(hit.item), hit.item.type != "rule"))
    return [
        CardFact(
            item=hit.item.id,
            why=_holds(hit.item),
            text=_said(hit.item),
            weight=hit.signals.usefulness,
        )
        for hit in hits
    ]


def _holds(note: Item) -> str:
    why = "rejected before" if note.type == "rejected" else f"standing {note.type}"
    if away := next((each for each in note.validity if each.reason == "elsewhere"), None):
        why += (
            f", on branch {named(away.branch)}, not here"
            if away.branch
            else ", not in this history"
        )
    if not is_stale(note):
        return why
    reasons = dict.fromkeys(each.reason for each in note.validity if each.reason in ENDS)
    return f"{why}, {', '.join(reasons) or 'stale'}"


def _said(note: Item) -> str:
    """Return a note's text, behind its title where that is no part of it."""
    title = note.title.removesuffix("…")
    if note.narrative.startswith(title):
        return note.narrative
    return f"{note.title}: {note.narrative}" if note.narrative else note.title


def _changed(other: PastSession) -> CardFact:
    asked = other.left.request or other.summary.title
    files = _names(other.summary.files_modified)
    why = f"changed by {other.session.client}"
    return _of(other, why, f"{files}: {asked}", at_ms=other.session.last_ms)


def _committed(
    reader: StoreReader, request: CardRequest, last: PastSession, others: Sequence[PastSession]
) -> Iterator[CardFact]:
    """Yield what was committed outside of the sessions shown, a line an author.

    A commit that was not made here is named by its hash: what it says are somebody else's words.
    """
    shown = {last.session.id, *(other.session.id for other in others)}
    filters = Filters(
        project_id=request.project_id, types=("commit",), since_ms=last.session.started_ms
    )
    newest_ones = reader.recent(filters, limit=COMMITS)
    gone = discarded(reader, newest_ones)
    news = [each for each in newest_ones if each.session_id not in shown and each.id not in gone]
    ours = made_here(reader, news)
    of_authors: dict[tuple[str, bool], list[Item]] = defaultdict(list)
    for commit in news:
        author = commit.subtitle.partition(" by ")[2]
        of_authors[author, commit.id in ours].append(commit)
    for (author, is_ours), commits in of_authors.items():
        newest, files = commits[0], [path for commit in commits for path in commit.files_modified]
        title, says = (newest.title, named) if is_ours else (_foreign(newest), quoted)
        who = f" by {author if is_ours else quoted(author)}" if author else ""
        more = f" and {len(commits) - 1} more" if commits[1:] else ""
        yield CardFact(
            item=newest.id,
            why=f"committed{who}{'' if is_ours else ', not here'}",
            text=f"{title}{more}: {_names(dict.fromkeys(files), says)}",
            at_ms=newest.created_ms,
        )


def _foreign(commit: Item) -> str:
    """Return a commit by its hash, with its subject as a quotation."""
    return f"{commit.facts[0].removeprefix('commit ')[:HASH_CHARS]} {quoted(commit.title)}"


def _names(
    paths: Iterable[str], says: Callable[[str], str] = named, *, most: int = NAMES_SAID
) -> str:
    return listed([says(path) for path in paths], most)


def _outcome(last: PastSession) -> Iterator[CardFact]:
    fields = last.summary.summary or SummaryFields()
    asked = last.summary.title.removesuffix("…")
    for why, text in (("done", fields.completed), ("learned", fields.learned)):
        if text and not text.startswith(asked):  # what nobody asked for is called what it did
            yield _of(last, why, text)


def _of(past: PastSession, why: str, text: str, *, at_ms: int = 0) -> CardFact:
    return CardFact(item=past.summary.id, why=why, text=text, at_ms=at_ms)
