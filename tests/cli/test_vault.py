"""`observer export --vault`: a memory as Markdown files that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Event, Remember
from observer.core.paths import Home
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.notes.folders.grammar import fields_of, parts_of
from observer.projects import PlaceCache
from observer.store.database import SqliteStore
from tests.cli.conftest import Run


@pytest.fixture
def noted(filled: Home, home: Home, app: Path) -> Home:
    """A memory with a session, and notes with names that no file can have."""
    del filled
    notes = [
        Remember(content="Totals are rounded once.", title="Round once", tags=("money",)),
        Remember(content="---\ntwo: [\n---\n", title="../../etc/passwd: a\n*b*", type="decision"),
        Remember(content="mine", title="of Bob", scope="personal", owner="bob"),
    ]
    with closing(SqliteStore(home.database)) as store:
        pipeline = Pipeline(
            store, Spool(home.spool), settings=Settings(), places=PlaceCache(), now_ms=lambda: 9
        )
        pipeline.ingest(
            [
                Event(id=f"n{number}", at_ms=9, client="mcp", cwd=str(app), body=body)
                for number, body in enumerate(notes)
            ]
        )
    return home


def test_notes_and_sessions_are_files(run: Run, noted: Home, tmp_path: Path) -> None:
    del noted
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
    assert (fields["title"], fields["tags"], note.stat().st_mode & 0o77) == (
        "Round once",
        ["money"],
        0,
    )
    assert note.read_text().endswith("\n\nTotals are rounded once.\n")
    (session,) = folder.glob("app/sessions/*.md")
    assert "# make the login page faster" in session.read_text()
    assert "make bench" in session.read_text()


def test_a_second_export_replaces_the_first_and_leaves_the_rest(
    run: Run, noted: Home, tmp_path: Path
) -> None:
    del noted
    folder = tmp_path / "vault"
    run("export", "--vault", str(folder))
    before = {path: path.read_bytes() for path in folder.rglob("*.md")}
    (folder / "mine.md").write_text("mine")
    first = min(before)
    first.unlink()
    first.symlink_to(folder / "mine.md")
    assert run("export", "--vault", str(folder), "--json").json["files"] == 3
    assert {path: path.read_bytes() for path in before} == before
    assert (folder / "mine.md").read_text() == "mine"


def test_a_folder_of_somebody_else_is_refused(run: Run, noted: Home, tmp_path: Path) -> None:
    del noted
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.md").touch()
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
