"""Why code is as it is: from the commits behind it to the sessions and prompts behind those.

git knows who changed a line and when; the store knows what was asked, tried and checked meanwhile.
Independent of any query.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from observer.core.events import FileWrite
from observer.core.filters import Filters, touches
from observer.core.model import Item, Session
from observer.core.value import Value
from observer.git.agent_marks import AgentMark
from observer.git.blame import UNCOMMITTED, BlamedCommit
from observer.observations.drafts import FAILED
from observer.store.interface import StoreReader

EDITS = 200
"""Newest edits between two commits of a file that are looked at."""
MOMENTS = 400
"""Newest items of a session around such edits that are looked at."""
SESSIONS = 3
LOOKED_AT = 12
"""Sessions whose edits are searched for the lines themselves."""
SHOWN = 5
"""Most edits, attempts or checks of one change that are shown: the last of them."""
AFTERWARDS_MS = 30 * 60_000
"""How long after a commit what was checked still belongs to it, in the same session."""
_SECOND_MS = 1000
"""git counts seconds: a commit may be that much later than it says."""

ATTEMPTS = ("fix", "rejected")
_WORD = re.compile(r"\w{2}")
JUDGING = frozenset({"testing", "linting", "types", "build"})
"""Concepts of commands that judge the code."""


Sureness = Literal["certain", "likely", "possible", "unknown"]


class CodeChange(Value):
    """One commit, or what is not committed yet, and what is remembered of how it came about.

    `marks` are what the commit says of agents. `sureness` is how well it is known which session,
    or agent, made it, and `reason` why.

    `asked` are prompts, `edits` file writes, `tried` fixes and rejected attempts, `checks` runs of
    tests and other tools that judge the code, failures that passed later left out; oldest first.
    """

    origin: BlamedCommit
    commit: Item | None = None
    sessions: tuple[Session, ...] = ()
    asked: tuple[Item, ...] = ()
    edits: tuple[Item, ...] = ()
    tried: tuple[Item, ...] = ()
    checks: tuple[Item, ...] = ()
    marks: tuple[AgentMark, ...] = ()
    sureness: Sureness = "unknown"
    reason: str = ""

    @property
    def is_committed(self) -> bool:
        """Whether a commit has taken it in."""
        return self.origin.hash != UNCOMMITTED


class CodeTarget(Value):
    """What is asked about: a file of a project, and a name in it if one was given.

    `path` is relative to the project's root; `owner` is whose personal items count too, `authors`
    whose commits were made in this clone.
    """

    project_id: int
    path: str
    symbol: str = ""
    owner: str = ""
    authors: frozenset[str] = frozenset()


def code_changes(
    reader: StoreReader,
    piece: CodeTarget,
    origins: Iterable[BlamedCommit],
    marks_of: Callable[[BlamedCommit], tuple[AgentMark, ...]] = lambda _: (),
) -> list[CodeChange]:
    """Return what is remembered of each of the commits, given what they say of agents."""
    return [_change(reader, piece, origin, marks_of(origin)) for origin in origins]


def _change(
    reader: StoreReader, piece: CodeTarget, origin: BlamedCommit, marks: tuple[AgentMark, ...]
) -> CodeChange:
    commit = _commit(reader, piece, origin)
    until_ms = _end(origin, commit)
    edits: Sequence[Item] = ()
    sessions: Sequence[Session] = ()
    written: Sequence[Session] = ()
    named = _named(reader, marks)
    if not _is_foreign(piece, origin, commit):
        edits = _edits(reader, piece, since_ms=origin.before_ms, until_ms=until_ms)
        sessions = _sessions(reader, edits, commit)
        written = _written(reader, sessions, piece, origin, until_ms)
        sessions = (written or named or sessions)[:SESSIONS]
        ids = {None, *(each.id for each in sessions)}
        edits = [each for each in edits if each.session_id in ids]
    sessions = sessions or named[:SESSIONS]
    asked: list[Item] = []
    around: list[Item] = []
    for session in sessions:
        own = [each.created_ms for each in edits if each.session_id == session.id]
        begun_ms = min(own, default=until_ms or session.last_ms)
        prompt = _prompt(reader, session, begun_ms)
        asked += prompt
        begun_ms = min([begun_ms, *(each.created_ms for each in prompt)])
        around += _moments(reader, session, begun_ms, until_ms and until_ms + AFTERWARDS_MS)
    sureness, reason = _sureness(written, named, sessions, marks, commit)
    return CodeChange(
        origin=origin,
        marks=marks,
        sureness=sureness,
        reason=reason,
        commit=commit,
        sessions=tuple(sessions),
        asked=_last(asked),
        edits=_last(edits),
        tried=_last(each for each in around if each.type in ATTEMPTS),
        checks=_last(_standing(around)),
    )


def _named(reader: StoreReader, marks: Iterable[AgentMark]) -> list[Session]:
    """Return the sessions that claims name, of those that are remembered."""
    names = dict.fromkeys(mark.session for mark in marks if mark.session)
    return [session for name in names if (session := reader.session_called(name))]


def _sureness(
    written: Sequence[Session],
    named: Sequence[Session],
    sessions: Sequence[Session],
    marks: Sequence[AgentMark],
    commit: Item | None,
) -> tuple[Sureness, str]:
    """Return how well it is known who made a change, and why."""
    noted = [mark for mark in marks if mark.lines]
    made_it = commit is not None and commit.session_id in {each.id for each in sessions}
    known: tuple[tuple[object, Sureness, str], ...] = (
        (written, "certain", "the session's edits hold these lines"),
        (noted and noted[0].of != "text", "certain", "a note names the lines"),
        (named, "likely", "the commit names the session"),
        (noted, "likely", "a note of another commit names lines of the same text"),
        (sessions and made_it, "likely", "the session made the commit"),
        (sessions, "possible", "the session edited the file before the commit"),
        (marks, "possible", "the commit says so"),
    )
    return next(((sure, why) for holds, sure, why in known if holds), ("unknown", ""))


def _commit(reader: StoreReader, piece: CodeTarget, origin: BlamedCommit) -> Item | None:
    """Find the item of a commit, or of one that was amended or rebased into it."""
    if not origin.hash:
        return None
    known = reader.commits(piece.project_id, [origin.hash], before=sys.maxsize)
    if found := reader.items(list(known.values())):
        return found[0]
    # What rewrites a commit keeps its author's time, and mostly its subject.
    about = Filters(
        project_id=piece.project_id,
        types=("commit",),
        since_ms=origin.authored_ms,
        until_ms=origin.authored_ms + 2 * _SECOND_MS,
    )
    alike = (each for each in reader.recent(about, limit=SHOWN) if each.title == origin.subject)
    return next(alike, None)


def _is_foreign(piece: CodeTarget, origin: BlamedCommit, commit: Item | None) -> bool:
    """Return True if a commit came from elsewhere: what was done here did not make it."""
    is_made_here = commit is not None and commit.session_id is not None
    if not origin.hash or is_made_here:
        return False
    return bool(piece.authors) and origin.author not in piece.authors


def _written(
    reader: StoreReader,
    sessions: Sequence[Session],
    piece: CodeTarget,
    origin: BlamedCommit,
    until_ms: int | None,
) -> list[Session]:
    """Return the sessions that wrote the lines asked about as they stand, the one of most first.

    None if no edit shows the lines, as where a formatter or a command wrote them.
    """
    last = _last_writers(reader, sessions, piece, origin, until_ms)
    known = {session.id: session for session in sessions}
    return [known[session_id] for session_id, _ in Counter(last.values()).most_common()]


def _last_writers(
    reader: StoreReader,
    sessions: Sequence[Session],
    piece: CodeTarget,
    origin: BlamedCommit,
    until_ms: int | None,
) -> dict[str, int]:
    """Return which session wrote each line last, by its text without the space around it."""
    last: dict[str, tuple[int, int]] = {}
    wanted = {text.strip() for text in origin.texts if _WORD.search(text)}
    for session in sessions if wanted else ():
        events = reader.recorded_near(
            session.id, from_ms=origin.before_ms, to_ms=until_ms or sys.maxsize
        )
        for one in events:
            body = one.event.body
            if isinstance(body, FileWrite) and _is_of(body.path, piece.path, origin.path):
                for text in wanted & _lines_added(body):
                    last[text] = max(last.get(text, (0, 0)), (one.event.at_ms, session.id))
    return {text: session_id for text, (_, session_id) in last.items()}


def line_writers(
    reader: StoreReader, piece: CodeTarget, origin: BlamedCommit
) -> dict[int, Session]:
    """Return the session whose recorded edits hold each line of a commit, by line number."""
    commit = _commit(reader, piece, origin)
    if _is_foreign(piece, origin, commit):
        return {}
    until_ms = _end(origin, commit)
    edits = _edits(reader, piece, since_ms=origin.before_ms, until_ms=until_ms)
    sessions = {each.id: each for each in _sessions(reader, edits, commit)}
    last = _last_writers(reader, list(sessions.values()), piece, origin, until_ms)
    numbered = zip(origin.numbers, origin.texts, strict=True)
    return {
        number: sessions[last[key]] for number, text in numbered if (key := text.strip()) in last
    }


def _is_of(path: str, *names: str) -> bool:
    shown = path.replace("\\", "/")
    return any(shown == name or shown.endswith(f"/{name}") for name in names)


def _lines_added(write: FileWrite) -> set[str]:
    """Return the lines that a write brought in."""
    if write.error:
        return set()
    old = {line.strip() for edit in write.edits for line in edit.old.split("\n")}
    new = {line.strip() for edit in write.edits for line in edit.new.split("\n")}
    return (
        new - old if write.edits else {line.strip() for line in (write.content or "").split("\n")}
    )


def _end(origin: BlamedCommit, commit: Item | None) -> int | None:
    """Return when a change was over; None for one that is not."""
    if not origin.hash:
        return None
    known_ms = commit.created_ms if commit else 0
    return max(known_ms, origin.authored_ms + _SECOND_MS)


def _edits(
    reader: StoreReader, piece: CodeTarget, *, since_ms: int, until_ms: int | None
) -> list[Item]:
    """Return the edits of the file in a stretch of time; those of the symbol if there are any."""
    writes = Filters(
        project_id=piece.project_id,
        types=("file-write",),
        since_ms=since_ms,
        until_ms=until_ms,
        owner=piece.owner,
    )
    of_file = [
        each
        for each in reader.recent(writes, limit=EDITS)
        if any(touches(path, piece.path) for path in each.files_modified)
    ]
    return [each for each in of_file if piece.symbol and _names(each, piece.symbol)] or of_file


def _names(item: Item, symbol: str) -> bool:
    last = symbol.rpartition(".")[2]
    return any(last in text for text in (item.title, item.subtitle, item.narrative, *item.facts))


def _sessions(reader: StoreReader, edits: Sequence[Item], commit: Item | None) -> list[Session]:
    """Return the sessions that made the edits, else the one that made the commit."""
    items = (*edits, commit) if commit and not edits else edits
    ids = dict.fromkeys(each.session_id for each in items if each and each.session_id is not None)
    found = (reader.session(session_id) for session_id in list(ids)[:LOOKED_AT])
    return [session for session in found if session]


def _prompt(reader: StoreReader, session: Session, before_ms: int) -> list[Item]:
    prompts = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("prompt",),
        until_ms=before_ms + 1,
    )
    return reader.recent(prompts, limit=1)


def _moments(
    reader: StoreReader, session: Session, since_ms: int, until_ms: int | None
) -> list[Item]:
    wanted = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("command", *ATTEMPTS),
        since_ms=since_ms,
        until_ms=until_ms,
    )
    return reader.recent(wanted, limit=MOMENTS)


def _standing(around: Sequence[Item]) -> Iterator[Item]:
    """Yield the checks, without failures that passed later: by a run of their own, or in a fix."""
    links = (link for each in around if each.type == "fix" for link in each.links)
    fixed = {link.target for link in links if link.kind == "fixes"}
    checks = sorted(filter(_is_check, around), key=lambda each: each.created_ms)
    # The first fact is the command.
    passed_ms = {each.facts[:1]: each.created_ms for each in checks if each.category != FAILED}
    for each in checks:
        is_over = each.id in fixed or passed_ms.get(each.facts[:1], 0) > each.created_ms
        if each.category != FAILED or not is_over:
            yield each


def _is_check(item: Item) -> bool:
    return item.type == "command" and not JUDGING.isdisjoint(item.concepts)


def _last(items: Iterable[Item]) -> tuple[Item, ...]:
    found = sorted(items, key=lambda each: (each.created_ms, each.id))
    return tuple(found[-SHOWN:])
