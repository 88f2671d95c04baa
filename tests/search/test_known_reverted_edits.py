"""Whether an edit brings back what was taken back: the same lines, in the same file."""

from __future__ import annotations

import pytest

from observer.code import edits
from observer.core.events import Edit, FileWrite
from observer.observations.drafts import Where
from observer.observations.project_state import (
    DROPPED,
    STASHED,
    ProjectState,
    TrackedEdit,
    WorktreeBranch,
)
from observer.search import reminder

HERE = Where(root="/app", cwd="/app")
WRITE = FileWrite(path="/app/cart.py", edits=(Edit(old="a = 1\n", new="a = 2\n"),))
OTHER = FileWrite(path="/app/cart.py", edits=(Edit(old="a = 1\n", new="a = 3\n"),))
COMMIT = "abcdef0123456789"


def an_edit(
    seq: int = 1, reverted_by: str = "", *, path: str = "cart.py", session: int | None = 1
) -> TrackedEdit:
    return TrackedEdit(
        seq=seq,
        item=10 * seq,
        worktree=WorktreeBranch(),
        session=session,
        path=path,
        marks=edits.fingerprints_of(WRITE).edits,
        reverted_by=reverted_by,
    )


def how(*edits: TrackedEdit, write: FileWrite = WRITE, session: int | None = 2) -> str:
    found = reminder.find_reverted_edit(ProjectState(edits=edits), write, HERE, session)
    return found.how if found else ""


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(
            an_edit(reverted_by=COMMIT), "reverted in abcdef0123", id="a commit reverted it"
        ),
        pytest.param(an_edit(reverted_by=DROPPED), "taken back", id="nobody saw how"),
        pytest.param(an_edit(), "", id="it is there"),
        pytest.param(an_edit(reverted_by=STASHED), "", id="it lies in the stash"),
        pytest.param(an_edit(reverted_by=DROPPED, path="b.py"), "", id="of another file"),
        pytest.param(an_edit(reverted_by=DROPPED, session=2), "", id="of this session"),
        pytest.param(an_edit(reverted_by=DROPPED, session=None), "", id="of nobody knows which"),
    ],
)
def test_only_what_another_session_took_back_is_known(edit: TrackedEdit, expected: str) -> None:
    assert how(edit) == expected


def test_it_says_by_what_it_was_taken_back() -> None:
    undo = TrackedEdit(
        seq=5, item=50, worktree=WorktreeBranch(), kind="undo", since=1, said="git checkout cart.py"
    )
    assert how(an_edit(reverted_by=DROPPED), undo) == "git checkout cart.py"


def test_an_undoing_of_what_came_later_is_not_the_cause() -> None:
    undo = TrackedEdit(
        seq=5, item=50, worktree=WorktreeBranch(), kind="undo", since=3, said="git checkout b.py"
    )
    assert how(an_edit(reverted_by=DROPPED), undo) == "taken back"


def test_what_was_made_anew_since_is_there() -> None:
    assert how(an_edit(reverted_by=DROPPED), an_edit(seq=2)) == ""


def test_another_edit_of_the_file_is_none_of_it() -> None:
    assert how(an_edit(reverted_by=DROPPED), write=OTHER) == ""
    assert how(an_edit(reverted_by=DROPPED), write=FileWrite(path="/app/cart.py")) == ""
