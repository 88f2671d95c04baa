"""Which sessions made a change, and what each was asked, tried and checked around it.

It was made by those whose edits hold its lines, or that ran git for its commit.

Independent of any query.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator

from observer.core.events import Command, FileWrite
from observer.core.filters import Filters
from observer.core.model import Item, Session
from observer.git.blame import BlamedCommit, has_words
from observer.observations import git_commands
from observer.shell.command_line import simple_commands
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

    Of several that wrote a line one of `known` counts: what another wrote may be on another branch.

    Args:
        reader: the store.
        sessions: whose edits are searched.
        path: what the file is called now, relative to the root of its project.
        origin: the commit that made the lines, and since when it was worked on.
        until_ms: when the work on it was over; None if it is not.
        known: ids of sessions that are known to have to do with the commit.
    """
    last: dict[str, tuple[bool, int, int]] = {}
    wanted = {text.strip() for text in origin.texts if has_words(text)}
    for session in sessions if wanted else ():
        events = reader.recorded_near(
            session.id, from_ms=origin.before_ms, to_ms=until_ms or sys.maxsize
        )
        for one in events:
            body = one.event.body
            if isinstance(body, FileWrite) and _is_of(body.path, path, *origin.paths):
                for text in wanted & _lines_added(body):
                    wrote = (session.id in known, one.event.at_ms, session.id)
                    last[text] = max(last.get(text, wrote), wrote)
    return {text: session_id for text, (_, _, session_id) in last.items()}


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


def committer(reader: StoreReader, project_id: int, origin: BlamedCommit) -> Session | None:
    """Return the session that ran git when a commit was made, as an imported history cannot say.

    Of several, it is the one that git printed the hash to; None if that leaves a choice. One of
    another project, as of a folder that is gone, has to have printed it.
    """
    calls = list(_commit_calls(reader, origin))
    printed = [session for session, output in calls if origin.hash[:HASH_CHARS] in output]
    here = [session for session, _ in calls if session.project_id == project_id]
    found = {one.id: one for one in printed or here}
    return next(iter(found.values())) if len(found) == 1 else None


def _commit_calls(reader: StoreReader, origin: BlamedCommit) -> Iterator[tuple[Session, str]]:
    """Yield the calls of `git commit` during which a commit was made, with what they printed."""
    for at_ms in {origin.authored_ms, origin.committed_ms}:
        known = map(reader.session, reader.sessions_between(at_ms, at_ms + CALL_MS))
        for session in filter(None, known):
            for one in reader.recorded_near(
                session.id, from_ms=at_ms, to_ms=at_ms + CALL_MS, kind="command"
            ):
                body = one.event.body
                if isinstance(body, Command) and _has_begun(body, one.event.at_ms, at_ms):
                    yield session, body.output


def _has_begun(body: Command, ended_ms: int, at_ms: int) -> bool:
    """Return True if a command commits, and had begun at a time."""
    took_ms = UNTIMED_MS if body.duration_ms is None else body.duration_ms
    return ended_ms - took_ms < at_ms + SECOND_MS and _commits(body.command)


def _commits(command: str) -> bool:
    return "git" in command and any(map(git_commands.commits, simple_commands(command)))


def prompt(reader: StoreReader, session: Session, before_ms: int) -> list[Item]:
    """Return the last prompt of a session until a time, or none."""
    prompts = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("turn",),
        until_ms=before_ms + 1,
    )
    return reader.recent(prompts, limit=1)


def moments(
    reader: StoreReader, session: Session, since_ms: int, until_ms: int | None
) -> list[Item]:
    """Return the commands and attempts of a session in a stretch of time, the newest."""
    wanted = Filters(
        project_id=session.project_id,
        session_id=session.id,
        types=("command", *ATTEMPTS),
        since_ms=since_ms,
        until_ms=until_ms,
    )
    return reader.recent(wanted, limit=MOMENTS)
