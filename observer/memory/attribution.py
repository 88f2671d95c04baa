"""Which lines of a commit which session wrote, as far as its recorded edits hold them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from observer.code.edits import summarize_write
from observer.core.errors import NotFound
from observer.core.events import FileWrite, SessionStart
from observer.core.model import Session
from observer.core.text import relative
from observer.core.value import Value
from observer.git.blame import (
    BlamedCommit,
    added_lines,
    commit_at,
    local_authors,
    with_earlier_forms,
)
from observer.projects import known_project_at
from observer.search.code_history import SECOND_MS, CodeTarget, line_writers
from observer.store.reader import StoreReader


class SessionShare(Value):
    """Lines of one file of a commit that one session wrote, as ranges that include both ends.

    `added` and `removed` count the lines of all its edits of the file that led to the commit.
    """

    path: str
    session: Session
    ranges: tuple[tuple[int, int], ...]
    added: int = 0
    removed: int = 0


class CommitShares(Value):
    """The lines of a commit that sessions wrote; of the others nothing is known.

    `models` name the model of a session, by its id, where the client said it.
    """

    commit: BlamedCommit
    shares: tuple[SessionShare, ...]
    models: dict[int, str]


def commit_shares(reader: StoreReader, root: str, commit: str, *, owner: str) -> CommitShares:
    """Return who wrote the lines that a commit brought in.

    Raises:
        NotFound: the repository, or the commit, is not known.
    """
    project = known_project_at(root, reader.projects())
    if project is None:
        raise NotFound(f"nothing is remembered of {root}", hint="see: observer status --projects")
    own = local_authors(root)
    made = commit_at(root, commit)
    shares: list[SessionShare] = []
    for path, lines in added_lines(root, made.hash).items():
        origin = BlamedCommit(
            **{name: getattr(made, name) for name in _OF_COMMIT},
            path=path,
            lines=len(lines),
            texts=tuple(lines.values()),
            numbers=tuple(lines),
        )
        piece = CodeTarget(project_id=project.id, path=path, owner=owner, authors=own)
        (origin,) = with_earlier_forms(root, [origin], own)
        writers = line_writers(reader, piece, origin)
        for session in {each.id: each for each in writers.values()}.values():
            numbers = [number for number, each in writers.items() if each.id == session.id]
            added, removed = _lines_changed(reader, session, origin)
            shares.append(
                SessionShare(
                    path=path,
                    session=session,
                    ranges=ranges_of(numbers),
                    added=max(added, len(numbers)),
                    removed=removed,
                )
            )
    sessions = {share.session.id: share.session for share in shares}
    models = {name: _model(reader, one) for name, one in sessions.items()}
    known = {name: model for name, model in models.items() if model}
    return CommitShares(commit=made, shares=tuple(shares), models=known)


def _lines_changed(reader: StoreReader, session: Session, origin: BlamedCommit) -> tuple[int, int]:
    """Return how many lines a session added to a file, and removed, while a commit was made.

    Of a line that was written twice both count; what its edits do not show is left out.
    """
    near = reader.recorded_near(
        session.id,
        from_ms=origin.before_ms,
        to_ms=origin.committed_ms + SECOND_MS,
        kind="file-write",
    )
    changes = [
        summarize_write(body)
        for one in near
        if isinstance(body := one.event.body, FileWrite)
        and not body.error
        and relative(body.path, one.root, one.event.cwd) in origin.paths
    ]
    return sum(one.added for one in changes), sum(one.removed for one in changes)


_OF_COMMIT = ("hash", "subject", "author", "authored_ms", "committed_ms")


def ranges_of(lines: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return line numbers as ranges, in ascending order."""
    found: list[tuple[int, int]] = []
    for line in sorted(set(lines)):
        if found and found[-1][1] == line - 1:
            found[-1] = found[-1][0], line
        else:
            found.append((line, line))
    return tuple(found)


def _model(reader: StoreReader, session: Session) -> str:
    """Return the model that a session named last; "" if its client names none."""
    named = ""
    for one in reader.recorded_near(session.id, from_ms=0, to_ms=sys.maxsize):
        body = one.event.body
        said = body.model if isinstance(body, SessionStart) else ""
        named = one.event.model or said or named
    return named
