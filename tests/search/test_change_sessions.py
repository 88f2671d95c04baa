"""Of the sessions around a commit, only one of the same project that ran git may have made it."""

from __future__ import annotations

import pytest

from observer.core.events import Command, Event
from observer.core.model import Recorded, Session
from observer.git.blame import BlamedCommit
from observer.search.code_history import committer
from observer.store.database import SqliteStore

HERE, ELSEWHERE = 2, 3
AT_MS = 1_800_000_000_000
COMMIT = BlamedCommit(hash="ab" * 20, authored_ms=AT_MS, committed_ms=AT_MS)


@pytest.mark.parametrize(
    ("project", "command", "output", "is_found"),
    [
        pytest.param(HERE, "git commit -m x", "x", True, id="it-committed"),
        pytest.param(HERE, "make commit", "x", False, id="it-ran-no-git"),
        pytest.param(HERE, "./ship", "[main abababa] x\n", True, id="git-says-so"),
        pytest.param(ELSEWHERE, "git commit -m x", "x", False, id="it-committed-elsewhere"),
    ],
)
def test_who_committed_ran_git_in_the_project(
    store: SqliteStore, project: int, command: str, output: str, *, is_found: bool
) -> None:
    body = Command(command=command, output=output)
    event = Event(id="e", at_ms=AT_MS + 10, client="c", session="s", body=body)
    recorded = Recorded(seq=1, event=event, project_id=project, session_id=1)
    session = Session(
        id=1, external="s", client="c", project_id=project, started_ms=AT_MS, last_ms=AT_MS + 20
    )
    with store.write() as writer:
        writer.put_session(session)
        writer.append(recorded, stored_ms=AT_MS)
    with store.read() as reader:
        found = committer(reader, HERE, COMMIT)
    assert (found is not None) == is_found
