"""What a person takes out of the memory: a vault, and drafts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.events import Event, Remember
from observer.core.paths import Home
from observer.notes.folders.grammar import fields_of, parts_of
from observer.store.database import SqliteStore
from tests.cli.conftest import Fill, Run
from tests.support import pipeline_over, put_file


@pytest.fixture
def noted(filled: Home, home: Home, app: Path) -> Home:
    """A memory with a session, and notes with names that no file can have."""
    notes = [
        Remember(content="Totals are rounded once.", title="Round once", tags=("money",)),
        Remember(content="---\ntwo: [\n---\n", title="../../etc/passwd: a\n*b*", type="decision"),
        Remember(content="mine", title="of Bob", scope="personal", owner="bob"),
    ]
    with closing(SqliteStore(home.database)) as store:
        pipeline = pipeline_over(store, home, 9)
        pipeline.ingest(
            [
                Event(id=f"n{number}", at_ms=9, client="mcp", cwd=str(app), body=body)
                for number, body in enumerate(notes)
            ]
        )
    return home


def test_notes_and_sessions_are_files_made_again(run: Run, noted: Home, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    assert run("export", "--vault", str(folder)).out == f"3 files in {folder}\n"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    assert {name.rsplit(" ", 1)[0] for name in files} == {
        "app/notes/Round once",
        "app/notes/etc passwd a b",
        next(name for name in files if "sessions" in name).rsplit(" ", 1)[0],
    }
    (note,) = folder.glob("app/notes/Round*.md")
    fields = fields_of(parts_of(note.read_text()).yaml) or {}
    assert (fields["title"], fields["tags"]) == ("Round once", ["money"])
    assert note.stat().st_mode & 0o77 == 0
    assert note.read_text().endswith("\n\nTotals are rounded once.\n")
    (session,) = folder.glob("app/sessions/*.md")
    assert "# make the login page faster" in session.read_text()
    assert "make bench" in session.read_text()
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    (folder / "mine.md").write_text("mine")
    first = min(before)
    first.unlink()
    first.symlink_to(folder / "mine.md")
    assert run("export", "--vault", str(folder), "--json").json["files"] == 3
    assert {path: path.read_bytes() for path in before} == before
    assert (folder / "mine.md").read_text() == "mine"

    put_file(tmp_path / "mine" / "a.md")
    ran = run("export", "--vault", str(tmp_path / "mine"))
    assert (ran.code, "holds other files" in ran.err) == (2, True)


def test_a_session_is_named_for_what_its_first_prompt_asks(
    run: Run, fill: Callable[..., None], app: Path, tmp_path: Path
) -> None:
    plan = "Implement the following plan:\n\n# Plan: Round totals once\n\n## Context\n\nCents."
    here = {"cwd": str(app), "session": "s9", "client": "testbed", "kind": "prompt"}
    fill([{"text": plan, **here}, {"text": "now the tests", **here}])
    run("export", "--vault", str(tmp_path / "vault"))
    (file,) = (tmp_path / "vault" / "app" / "sessions").iterdir()
    assert "Round totals once" in file.name
    assert "\n# Round totals once\n" in file.read_text()


@pytest.fixture
def tested(fill: Fill, app: Path) -> Path:
    """A memory of three sessions in `app`, each of which built and tested it."""
    for session in ("s1", "s2", "s3"):
        here = {"cwd": str(app), "session": session, "client": "testbed"}
        checked = {"kind": "command", "exit_code": 0, **here}
        fill(
            [
                {"kind": "prompt", "text": f"make the login page faster, part {session}", **here},
                {**checked, "command": "pip install -e .", "output": "Successfully installed a-1"},
                {**checked, "command": "pytest -q", "output": "3 passed in 0.01s\n"},
            ]
        )
    return app


def test_a_session_a_topic_an_item_and_the_tests_have_a_draft(run: Run, tested: Path) -> None:
    of_session = run("note", "draft", "s2").out
    assert "- [asked] make the login page faster, part s2" in of_session
    assert "part s3" not in of_session
    of_topic = run("note", "draft", "login page").out
    assert "part s1" in of_topic
    assert "part s3" in of_topic
    turn = run("search", "part s2", "--type", "turn", "--json").json["observations"][0]["id"]
    assert run("note", "draft", f"#{turn}").out == of_session
    assert run("note", "draft", "login", "page").out == of_topic
    shown = run("note", "draft", "--testing").out
    assert "# How we test app" in shown
    assert "- [check] `pytest -q` passed 3 times" in shown


@pytest.mark.parametrize("what", ["s1", "rounding of totals"])
def test_what_was_resolved_since_is_not_open(run: Run, fill: Fill, app: Path, what: str) -> None:
    red = "FAILED test_a.py::test_total - assert 0 == 5\n1 failed, 3 passed in 0.10s"
    for session, code, output in (("s1", 1, red), ("s2", 0, "4 passed in 0.10s")):
        here = {"cwd": str(app), "session": session, "client": "testbed"}
        command = {"kind": "command", "command": "pytest -q", "exit_code": code, "output": output}
        asked = {"kind": "prompt", "text": f"mend the rounding of totals, part {session}"}
        fill([{**asked, **here}, {**command, **here}])
        is_open = "## Open" in run("note", "draft", what).out
        assert is_open is (code == 1)


@pytest.mark.parametrize("what", ["--testing", "--skills"])
def test_a_folder_of_no_project_has_no_tests_of_another(
    run: Run, tested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("note", "draft", what)
    assert (ran.code, ran.out, "in no project" in ran.err) == (3, "", True)
    assert run("note", "draft", what, "--project", tested.name).code == 0


def test_a_draft_is_a_new_file(run: Run, tested: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes" / "record.md"
    assert run("note", "draft", "s1", "--to", str(file)).code == 0
    assert file.read_text() == run("note", "draft", "s1").out.rstrip("\n") + "\n"
    below = run("note", "draft", "login page", "--to", str(tmp_path)).out
    assert below == f"{tmp_path / 'login-page.md'}\n"
    unwritable = run("note", "draft", "s1", "--to", str(file / "x" / "y.md"))
    assert (unwritable.code, "Not a directory" in unwritable.err) == (1, True)

    (made,) = run("note", "draft", "--skills", "--json").json
    assert made["path"] == "pip-install-then-pytest/SKILL.md"
    kept = tmp_path / "candidates"
    assert run("note", "draft", "--skills", "--to", str(kept)).out == f"{kept / made['path']}\n"
    assert (kept / made["path"]).read_text() == made["text"]
    again = run("note", "draft", "--skills", "--to", str(kept))
    assert (again.code, "is there already" in again.err) == (2, True)


def test_what_cannot_be_drafted_says_why(run: Run, filled: Home) -> None:
    for words, code, reason in (
        ((), 2, "name what to draft"),
        (("login", "--testing"), 2, "name what to draft"),
        (("#999999",), 3, "no item"),
        (("zebra",), 3, "nothing is remembered about 'zebra'"),
        (("--skills",), 3, "by three sessions yet"),
    ):
        ran = run("note", "draft", *words)
        assert (ran.code, reason in ran.err) == (code, True), ran.err
