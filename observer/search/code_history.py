"""Why code is as it is: from the commits behind it to the sessions and prompts behind those.

git knows who changed a line and when; the store knows what was asked, tried and checked meanwhile.
A change was made by the sessions whose edits hold its lines, or that ran git for its commit.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from msgspec.structs import replace

from observer.commands.check_tools import checker_of
from observer.commands.command_line import leading_commands, printed_commits, simple_commands
from observer.core.events import Command, FileWrite
from observer.core.filters import Filters, touches
from observer.core.model import Item, Session
from observer.core.value import Value
from observer.git.blame import AgentMark, BlamedCommit, has_words
from observer.observations import session_commits, session_state
from observer.observations.drafts import FAILED
from observer.store.reader import StoreReader

SECOND_MS = 1000
"""git counts seconds: a commit may be that much later than it says."""
CALL_MS = 10 * 60_000
"""As long a call of git may take, with the checks before it."""
UNTIMED_MS = 60_000
"""As long ago a call may have begun that does not say how long it took."""
HASH_CHARS = 7
"""As much of a hash git prints at least."""
MOMENTS = 400
"""Newest items of a session around its edits that are looked at."""
ATTEMPTS = ("fix", "rejected")
_MOMENTS = ("command", *ATTEMPTS)


def last_writers(
    reader: StoreReader,
    sessions: Iterable[Session],
    path: str,
    origin: BlamedCommit,
    until_ms: int | None,
    *,
    known: Container[int] = (),
) -> dict[str, int]:
    """Return which session wrote each line last, by its text without the space around it.

    Of several that wrote a line one of `known`, that have to do with the commit, counts: what
    another wrote may be on another branch. `path` is relative to the root of the project.
    """
    last: dict[str, tuple[bool, int, int]] = {}
    wanted = {text.strip() for text in origin.texts if has_words(text)}
    names = (path, *origin.paths)
    for session in sessions if wanted else ():
        events = reader.recorded_near(
            session.id, from_ms=origin.before_ms, to_ms=until_ms or sys.maxsize
        )
        for one in events:
            body = one.event.body
            if isinstance(body, FileWrite) and any(
                f"/{body.path}".replace("\\", "/").endswith(f"/{name}") for name in names
            ):
                for text in wanted & _lines_added(body):
                    wrote = (session.id in known, one.event.at_ms, session.id)
                    last[text] = max(last.get(text, wrote), wrote)
    return {text: session_id for text, (_, _, session_id) in last.items()}


def _lines_added(write: FileWrite) -> set[str]:
    """Return the lines that a write brought in."""
    if write.error:
        return set()
    old = {line.strip() for edit in write.edits for line in edit.old.split("\n")}
    new = {line.strip() for edit in write.edits for line in edit.new.split("\n")}
    return (
        new - old if write.edits else {line.strip() for line in (write.content or "").split("\n")}
    )


def committer(reader: StoreReader, project_id: int, origin: BlamedCommit) -> Session | None:
    """Return the session that ran git when a commit was made, None where several may have.

    Of several, and of other projects, as of a folder that is gone, git printed the hash to it.
    """
    calls = list(_commit_calls(reader, origin))
    printed = [session for session, output in calls if origin.hash[:HASH_CHARS] in output]
    here = [session for session, _ in calls if session.project_id == project_id]
    found = {one.id: one for one in printed or here}
    return next(iter(found.values())) if len(found) == 1 else None


def _commit_calls(reader: StoreReader, origin: BlamedCommit) -> Iterator[tuple[Session, str]]:
    """Yield the calls during which a commit was made, with what they printed."""
    for at_ms in {origin.authored_ms, origin.committed_ms}:
        known = map(reader.session, reader.sessions_between(at_ms, at_ms + CALL_MS))
        for session in filter(None, known):
            for one in reader.recorded_near(
                session.id, from_ms=at_ms, to_ms=at_ms + CALL_MS, kind="command"
            ):
                body = one.event.body
                if isinstance(body, Command) and _committed(body, one.event.at_ms, at_ms):
                    yield session, body.output


def _committed(body: Command, ended_ms: int, at_ms: int) -> bool:
    """Return True if a command commits, by itself or whatever it ran, and had begun at a time."""
    took_ms = UNTIMED_MS if body.duration_ms is None else body.duration_ms
    parts = simple_commands(body.command) if "git" in body.command else ()
    commits = any(map(session_commits.commits, parts)) or printed_commits(body.output)
    return ended_ms - took_ms < at_ms + SECOND_MS and bool(commits)


EDITS = 200
"""Newest edits between two commits of a file that are looked at."""
SESSIONS = 3
LOOKED_AT = 12
"""Sessions whose edits are searched for the lines themselves."""
SHOWN = 5
"""Most edits, attempts or checks of one change that are shown: the last of them."""
AFTERWARDS_MS = 30 * 60_000
"""How long after a commit what was checked still belongs to it, in the same session."""


Sureness = Literal["certain", "likely", "possible", "unknown"]


class CodeChange(Value):
    """One commit, or what is not committed yet, and what is remembered of how it came about.

    `marks` are what the commit says of agents. `sureness` is how well it is known which session,
    or agent, made it, and `reason` why. `sessions` are those behind the change, the surest first;
    `committers` others that made the commit of what these wrote.

    `asked` are prompts, `tried` fixes and rejected attempts that touched or named the file,
    `checks` runs of tools that judge the code, but failures that passed later; oldest first.
    """

    origin: BlamedCommit
    commit: Item | None = None
    sessions: tuple[Session, ...] = ()
    committers: tuple[Session, ...] = ()
    asked: tuple[Item, ...] = ()
    edits: tuple[Item, ...] = ()
    tried: tuple[Item, ...] = ()
    checks: tuple[Item, ...] = ()
    marks: tuple[AgentMark, ...] = ()
    sureness: Sureness = "unknown"
    reason: str = ""


class CodeTarget(Value):
    """What is asked about: a file, by its path from the project's root, and maybe a name in it.

    `owner` is whose personal items count too, `authors` whose commits were made in this clone.
    """

    project_id: int
    path: str
    symbol: str = ""
    owner: str = ""
    authors: frozenset[str] = frozenset()


def code_change(
    reader: StoreReader, piece: CodeTarget, origin: BlamedCommit, marks: tuple[AgentMark, ...]
) -> CodeChange:
    """Return what is remembered of a commit, given what it says of agents."""
    commit, work = _commit(reader, piece, origin), _first_form(origin)
    until_ms = _end(work, _commit(reader, piece, work))
    made = _made_by(reader, piece, origin, marks, commit)
    sessions = made.sessions[:SESSIONS]
    ids, names = {None, *(each.id for each in sessions)}, {piece.path, *work.paths}
    edits = [each for each in made.edits if each.session_id in ids]
    asked: list[Item] = []
    around: list[Item] = []
    for session in sessions:
        own = [each.created_ms for each in edits if each.session_id == session.id]
        begun_ms = min(own, default=until_ms or session.last_ms)
        here = Filters(project_id=session.project_id, session_id=session.id)
        before = reader.recent(replace(here, types=("turn",), until_ms=begun_ms + 1), limit=1)
        asked += before
        begun_ms = min([begun_ms, *(each.created_ms for each in before)])
        over_ms = until_ms and until_ms + AFTERWARDS_MS
        near = replace(here, types=_MOMENTS, since_ms=begun_ms, until_ms=over_ms)
        around += reader.recent(near, limit=MOMENTS)
    return CodeChange(
        origin=origin,
        marks=marks,
        sureness=made.sureness,
        reason=made.reason,
        commit=commit,
        sessions=tuple(sessions),
        committers=made.committers,
        asked=_last(asked),
        edits=_last(edits),
        tried=_last(each for each in around if each.type in ATTEMPTS and _is_about(each, names)),
        checks=_last(standing_checks(around, sessions)),
    )


class _MadeBy(NamedTuple):
    """The edits of a stretch of time, and the sessions behind a change; see `CodeChange`."""

    edits: Sequence[Item]
    sessions: Sequence[Session]
    sureness: Sureness
    reason: str
    committers: tuple[Session, ...] = ()


def _made_by(
    reader: StoreReader,
    piece: CodeTarget,
    origin: BlamedCommit,
    marks: tuple[AgentMark, ...],
    commit: Item | None,
) -> _MadeBy:
    names = dict.fromkeys(mark.session for mark in marks if mark.session)
    named = [session for name in names if (session := reader.session_called(name))]
    work = _first_form(origin)
    begun = commit if work is origin else _commit(reader, piece, work)
    by = begun.session_id if begun else None
    is_foreign = piece.authors and work.author not in piece.authors
    if work.hash and by is None and is_foreign:  # what was done here did not make it
        return _MadeBy((), named, *_sureness((), named, None, marks, sessions=named))
    edits = _edits(reader, piece, work, until_ms=_end(work, begun))
    made = None
    if work.hash and not names:  # as it was reported, or by the calls of git
        made = reader.session(by) if by else committer(reader, piece.project_id, work)
    last = _writers(reader, piece, origin, made=(*named, *([made] if made else ())))
    written = [session for session, _ in Counter(last.values()).most_common()]
    about = [
        each for each in edits if piece.symbol and _holds(each, piece.symbol.rpartition(".")[2])
    ] or edits
    sessions = written or named
    # What a rewriting put together may be anybody's: who carried it out says nothing.
    if not (written or names or work.is_rewritten or origin.forms):
        found = _taken_in(reader, piece.path, work, _sessions(reader, about), _end(work, begun))
        sessions = [made, *(each for each in found if each != made)] if made else found
    others = (made,) if made and made not in sessions else ()
    sure = _sureness(written, named, made if made in sessions else None, marks, sessions=sessions)
    return _MadeBy(about, sessions, *sure, committers=others)


def _sureness(
    written: Sequence[Session],
    named: Sequence[Session],
    made: Session | None,
    marks: Sequence[AgentMark],
    *,
    sessions: Sequence[Session],
) -> tuple[Sureness, str]:
    """Return how well it is known who made a change, and why."""
    noted = [mark for mark in marks if mark.lines]
    known: tuple[tuple[object, Sureness, str], ...] = (
        (written, "certain", "the session's edits hold these lines"),
        (noted, "certain", "a note names the lines"),
        (named, "likely", "the commit names the session"),
        (made, "likely", "the session made the commit"),
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
        until_ms=origin.authored_ms + 2 * SECOND_MS,
    )
    alike = (each for each in reader.recent(about, limit=SHOWN) if each.title == origin.subject)
    return next(alike, None)


def _first_form(origin: BlamedCommit) -> BlamedCommit:
    """Return the oldest commit that a commit was made of and that has the lines, with its texts."""
    texts = {text.strip() for text in origin.texts if has_words(text)}
    forms = [one for one in origin.forms if one.is_form_of(origin)]
    having = (one for one in forms if not texts or texts & {text.strip() for text in one.texts})
    first = next(having, None)
    return replace(first, texts=origin.texts, brought=first.texts) if first else origin


def _writers(
    reader: StoreReader, piece: CodeTarget, origin: BlamedCommit, *, made: Sequence[Session]
) -> dict[str, Session]:
    """Return the sessions that wrote the lines asked about as they stand, by their text.

    Where a line may be of several commits, as after a squash, and of several sessions, it has none.
    """
    found: dict[str, dict[int, Session]] = {}
    known = {session.id for session in made}
    for work in (*origin.forms, origin):
        until_ms = _end(work, commit := _commit(reader, piece, work))
        if until_ms and origin.forms:  # what an amended commit had not yet
            until_ms = max(until_ms, work.committed_ms + SECOND_MS)
        edits = _edits(reader, piece, work, until_ms=until_ms)
        near = {each.id: each for each in _sessions(reader, edits, commit)}
        asked = replace(work, texts=tuple(_first_in(origin, work)))
        last = last_writers(reader, near.values(), piece.path, asked, until_ms, known=known)
        for text, session_id in last.items():
            found.setdefault(text, {})[session_id] = near[session_id]
    sure = {
        text: {one: session for one, session in by.items() if one in known} or by
        for text, by in found.items()
    }
    # Of lines that are alike nobody knows which came from where, once they were put together.
    alike = Counter(text.strip() for text in origin.brought) if origin.forms else Counter[str]()
    return {
        text: next(iter(by.values()))
        for text, by in sure.items()
        if len(by) == 1 and alike[text] < 2
    }


def _taken_in(
    reader: StoreReader, path: str, origin: BlamedCommit, sessions: list[Session], end: int | None
) -> list[Session]:
    """Return those of the sessions of which a commit has any line: others worked beside it."""
    whole = replace(origin, texts=origin.brought)
    last = last_writers(reader, sessions, path, whole, end).values()
    has_lines = any(map(has_words, origin.brought))  # else it may be anybody's
    return [one for one in sessions if one.id in last or not has_lines]


def _first_in(origin: BlamedCommit, work: BlamedCommit) -> Iterator[str]:
    """Yield the lines of a commit that may have been written for one of its forms, or for it."""
    texts = {one.hash: {text.strip() for text in one.texts} for one in (*origin.forms, origin)}
    for text in texts[origin.hash]:
        having = [one for one in origin.forms if text in texts[one.hash]]
        first = next((one for one in having if one.is_form_of(origin)), None)
        if (first is None or first is work) and text in texts[work.hash]:
            yield text


def _end(origin: BlamedCommit, commit: Item | None) -> int | None:
    """Return when a change was over; None for one that is not."""
    if not origin.hash:
        return None
    known_ms = commit.created_ms if commit else 0
    return max(known_ms, origin.authored_ms + SECOND_MS)


def _edits(
    reader: StoreReader, piece: CodeTarget, origin: BlamedCommit, *, until_ms: int | None
) -> list[Item]:
    """Return the edits of the file, by any of its names, that led to a commit, newest first."""
    names = {piece.path, *origin.paths}
    writes = Filters(
        project_id=piece.project_id,
        types=("file-write",),
        since_ms=origin.before_ms,
        until_ms=until_ms,
        owner=piece.owner,
    )
    return [
        each
        for each in reader.recent(writes, limit=EDITS)
        if any(touches(path, name) for path in each.files_modified for name in names)
    ]


def _is_about(item: Item, paths: Iterable[str]) -> bool:
    """Return True if an item touched a file, or names it."""
    touched = (*item.files_modified, *item.files_read)
    return any(
        any(touches(one, path) for one in touched) or _holds(item, PurePosixPath(path).name)
        for path in paths
    )


def _holds(item: Item, word: str) -> bool:
    return any(word in text for text in (item.title, item.subtitle, item.narrative, *item.facts))


def _sessions(
    reader: StoreReader, edits: Iterable[Item], commit: Item | None = None
) -> list[Session]:
    """Return the sessions that made the edits, then the one that is known to have committed."""
    edited = dict.fromkeys(each.session_id for each in edits)
    ids = dict.fromkeys([*list(edited)[:LOOKED_AT], commit.session_id if commit else None])
    found = (reader.session(session_id) for session_id in ids if session_id is not None)
    return [session for session in found if session]


def _last(items: Iterable[Item]) -> tuple[Item, ...]:
    found = sorted(items, key=lambda each: (each.created_ms, each.id))
    return tuple(found[-SHOWN:])


def is_check(item: Item) -> bool:
    """Return True if an item is a run of tests, a linter, a compiler or the like."""
    if item.type != "command":
        return False
    # The title is what the command chiefly ran, and what came of it if that was no success.
    ran = simple_commands(item.title.partition(": ")[0])
    return any(checker_of(part.words) for part in ran if part.words)


def standing_checks(items: Iterable[Item], sessions: Iterable[Session] = ()) -> Iterator[Item]:
    """Yield the checks among items, oldest first, without failures that passed later.

    What passed is known by a run of the same command, a fix, or the sessions.

    Raises: StoreUnavailable (a session's state is of another version; a rebuild makes it anew).
    """
    found = sorted(items, key=lambda each: (each.created_ms, each.id))
    links = (link for each in found if each.type == "fix" for link in each.links)
    fixed = {link.target for link in links if link.kind == "fixes"}
    checks = [each for each in found if is_check(each)]
    # The command line of an item is its first fact.
    ran = {each.id: _ran("".join(each.facts[:1]).removeprefix("$ ")) for each in checks}
    passed_ms = {ran[each.id]: each.created_ms for each in checks if each.category != FAILED}
    passed = {
        (session.id, _ran(head))
        for session in sessions
        for head, known in session_state.decode(session.state).commands.items()
        if known.ok
    }
    for each in checks:
        if each.category != FAILED or not (
            each.id in fixed
            or passed_ms.get(ran[each.id], 0) > each.created_ms
            or (each.session_id, ran[each.id]) in passed
        ):
            yield each


def _ran(line: str) -> str:
    """Return what a command line chiefly ran, whatever it was run by: `uv run`, or nothing."""
    parts = leading_commands(simple_commands(line))
    return "; ".join(" ".join(part.words) for part in parts)
