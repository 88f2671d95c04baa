"""`observer export attribution`: a session's lines of a commit, as a note of git-ai."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.git.agent_marks import ai_notes
from tests.cli.conftest import Fill, Run

OLD = "first\n"
NEW = "first\nsecond = 2\nthird = 3\n"


@pytest.fixture
def shop(app: Path, git: Callable[..., str], fill: Fill) -> Path:
    """A repository whose last commit has two lines of a session, and one of a person."""
    git(app, "init", "-q")
    (app / "cart.py").write_text(OLD)
    git(app, "add", "-A")
    git(app, "commit", "-qm", "Begin")
    here = {"cwd": str(app), "session": "s1", "client": "testbed"}
    fill(
        [
            {"kind": "session-start", "model": "opus-4", **here},
            {"kind": "prompt", "text": "add two", **here},
            {
                "kind": "file-write",
                "path": str(app / "cart.py"),
                "edits": [{"old": OLD, "new": NEW.replace("2", "0")}],
                **here,
            },
            {
                "kind": "file-write",
                "path": str(app / "cart.py"),
                "edits": [{"old": "second = 0", "new": "second = 2"}],
                **here,
            },
        ]
    )
    (app / "cart.py").write_text(f"{NEW}mine = 4\n")
    (app / "my notes.txt").write_text("mine too\n")
    git(app, "add", "-A")
    git(app, "commit", "-qm", "Add two")
    return app


@pytest.mark.measured
def test_a_note_can_be_attached_and_is_read_by_why(
    run: Run, shop: Path, git: Callable[..., str]
) -> None:
    note = run("export", "attribution").out
    assert note.startswith("cart.py\n  ")
    git(shop, "notes", "--ref=ai", "add", "-F", "-", stdin=note.encode())
    known = dict(ai_notes(str(shop))).get(git(shop, "rev-parse", "HEAD"))
    assert known is not None
    assert [(one.path, one.first, one.last) for one in known.lines] == [("cart.py", 2, 3)]
    assert "testbed opus-4, session s1: 1 line by a git-ai note" in run("why", "cart.py:2").out
    said = run("export", "attribution", "--json").json
    assert said["note"] == note
    (session,) = json.loads(note.partition("\n---\n")[2])["prompts"].values()
    counts = {name: count for name, count in session.items() if isinstance(count, int)}
    assert counts == {
        "total_additions": 3,
        "total_deletions": 1,
        "accepted_lines": 2,
        "overriden_lines": 0,
    }


def test_a_range_leaves_out_commits_of_which_nothing_is_known(run: Run, shop: Path) -> None:
    ran = run("export", "attribution", "HEAD~1..HEAD", "--json")
    assert ran.json["commit"]
    ran = run("export", "attribution", "HEAD~1")
    assert (ran.out, ran.err) == ("", "1 commit without lines that recorded edits hold\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("nowhere",), "no commit 'nowhere' here", id="no commit"),
        pytest.param(("nowhere..HEAD",), "no commit 'nowhere..HEAD' here", id="no range"),
        pytest.param(("--", "--output=x"), "no commit '--output=x' here", id="an option of git"),
        pytest.param(("HEAD..HEAD",), "is not one commit", id="no one"),
    ],
)
def test_what_names_no_commit_is_refused(
    run: Run, shop: Path, words: tuple[str, ...], said: str
) -> None:
    ran = run("export", "attribution", *words)
    assert ran.code in {2, 3}
    assert said in ran.err


def test_outside_of_a_repository_nothing_is_exported(
    run: Run, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no git repository" in run("export", "attribution").err


@pytest.mark.measured
def test_a_commit_of_somebody_else_is_not_of_sessions_here(
    run: Run, shop: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    """Whoever fetched it may have edited the same lines."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(shop), str(other))
    git(other, "commit", "-q", "--amend", "--no-edit", "--author", "Bob <bob@example.com>")
    git(shop, "fetch", "-q", str(other))
    git(shop, "reset", "-q", "--hard", "FETCH_HEAD")
    assert run("export", "attribution").out == ""
