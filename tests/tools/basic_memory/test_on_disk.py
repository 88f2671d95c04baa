"""What is on the disk is true: notes that nobody has read yet are found, and never doubled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observer.core.errors import Ambiguous, BadInput, NotFound, SecretRefused
from tests.tools.basic_memory.conftest import Folders

LETTERS = "abcxyz019éüñåçøß日βωжщй가"
CASES = (str, str.lower, str.upper, str.title, str.swapcase)
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=3)


@st.composite
def spellings(draw: st.DrawFn, count: int = 5) -> list[str]:
    """Return one title in several spellings."""
    words = draw(WORDS)
    made = []
    for _ in range(count):
        gaps = [draw(st.sampled_from([" ", "-", "_", "  "])) for _ in words]
        text = "".join(f"{gap}{word}" for gap, word in zip(gaps, words, strict=True))[
            len(gaps[0]) :
        ]
        spelled = draw(st.sampled_from(CASES))(text)
        made.append(normalize(draw(st.sampled_from(["NFC", "NFD"])), spelled))
    return made


def put(vault: Path, name: str, title: str = "", text: str = "kept since May") -> Path:
    head = f"---\ntitle: {json.dumps(title)}\n---\n\n" if title else ""
    file = vault / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{head}{text}\n")
    return file


def appended(identifier: str, **more: Any) -> dict[str, Any]:
    return {"identifier": identifier, "operation": "append", "content": "second", **more}


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(spelled=spellings(), is_titled=st.booleans())
def test_an_unread_note_is_found_by_any_spelling_and_never_doubled(
    folders: Folders, vault: Path, spelled: list[str], is_titled: bool
) -> None:
    name, title, read, edited, written = spelled
    inside = vault / "plans"
    shutil.rmtree(inside, ignore_errors=True)
    file = put(inside, f"{name}.md", title if is_titled else "")
    again = {"title": written, "content": "again", "directory": "plans", "overwrite": False}
    with pytest.raises(BadInput, match="Note already exists"):
        folders.call("write_note", **again)
    assert folders.result("read_note", identifier=read)["file_path"] == f"plans/{file.name}"
    assert not folders.result("edit_note", **appended(edited))["fileCreated"]
    assert [each.name for each in inside.iterdir()] == [file.name]
    assert file.read_text().endswith("kept since May\nsecond")


@pytest.mark.parametrize("tool", ["write_note", "edit_note"])
def test_a_note_that_is_on_disk_is_not_made_again(folders: Folders, vault: Path, tool: str) -> None:
    """The first tool that is called meets a file that nobody has announced."""
    put(vault, "harbour-plan.md", "Harbour Plan")
    asked = {"title": "Harbour Plan", "content": "second", "directory": "", "overwrite": True}
    folders.call(tool, **(asked if tool == "write_note" else appended("Harbour Plan")))
    assert [path.name for path in vault.glob("*arbour*")] == ["harbour-plan.md"]
    assert "second" in (vault / "harbour-plan.md").read_text()


@pytest.mark.parametrize("field", ["content", "directory"])
def test_a_note_with_a_secret_is_not_written(folders: Folders, vault: Path, field: str) -> None:
    address = "https://ana:" + "tr0ub4dor" + "&3@git.acme.test/notes"
    asked = {"title": "Quay", "content": "x", "directory": "", field: address}
    with pytest.raises(SecretRefused):
        folders.call("write_note", **asked)
    assert not list(vault.rglob("*uay*"))


def test_what_a_person_has_just_written_is_found(folders: Folders, vault: Path) -> None:
    put(vault, "harbour-plan.md", "Harbour Plan")
    assert "harbour-plan" in folders.said("search_notes", query="kept since May")
    (vault / "harbour-plan.md").unlink()
    assert "harbour-plan" not in folders.said("search_notes", query="kept since May")


def test_notes_of_one_title_in_two_directories_stay_two(folders: Folders, vault: Path) -> None:
    put(vault, "plans/harbour-plan.md", "Harbour Plan")
    asked = {"title": "Harbour Plan", "content": "other", "directory": "old"}
    assert folders.result("write_note", **asked)["action"] == "created"
    assert folders.result("read_note", identifier="old/harbour_plan")["content"].strip() == "other"


def test_of_notes_that_are_there_twice_none_is_chosen(folders: Folders, vault: Path) -> None:
    for name in ("harbour-plan.md", "harbour_plan.md"):
        put(vault, name)
    with pytest.raises(Ambiguous, match="'Harbour Plan' matches 2 notes"):
        folders.call("write_note", title="Harbour Plan", content="x", directory="")
    asked = {"title": "harbour_plan", "content": "x", "directory": "", "overwrite": True}
    assert folders.result("write_note", **asked)["file_path"] == "harbour_plan.md"


def test_a_file_that_cannot_be_stored_is_not_doubled(folders: Folders, vault: Path) -> None:
    (vault / "harbour-plan.md").write_bytes(b"\xff")
    asked = {"title": "Harbour Plan", "content": "second", "directory": ""}
    with pytest.raises(BadInput, match=r"there is a file harbour-plan\.md, and nothing of it"):
        folders.call("write_note", **asked)
    assert not (vault / "Harbour Plan.md").exists()


@pytest.fixture
def late(folders: Folders, vault: Path) -> Path:
    """A folder with more new files than two calls have time for: each reads 200."""
    for number in range(450):
        put(vault, f"old/n{number:03}.md")
    put(vault, "old/zebra-plan.md", "Zebra Plan")
    folders.within_s = 0.0
    return vault


def test_an_answer_and_an_error_say_what_is_not_read_yet(folders: Folders, late: Path) -> None:
    found = folders.call("search_notes", query="kept since May")
    in_all = sum(1 for _ in late.rglob("*.md"))
    assert f"of {in_all} files of the note folder main read so far" in found.notice
    with pytest.raises(NotFound) as refused:
        folders.call("delete_note", identifier="Unknown")
    assert "files of the note folder main read so far" in refused.value.hint
    folders.within_s = 60.0
    assert folders.call("search_notes", query="kept since May").notice == ""


@pytest.mark.parametrize("tool", ["write_note", "edit_note", "read_note"])
def test_a_note_that_waits_to_be_read_is_found_by_its_name(
    folders: Folders, late: Path, tool: str
) -> None:
    asked = {
        "write_note": {"title": "Zebra Plan", "content": "", "directory": "old", "overwrite": True},
        "edit_note": appended("Zebra_plan"),
        "read_note": {"identifier": "Zebra Plan"},
    }
    done = folders.call(tool, **asked[tool])
    assert (done.result["file_path"], bool(done.notice)) == ("old/zebra-plan.md", True)
    assert [path.name for path in late.rglob("*ebra*")] == ["zebra-plan.md"]


def test_a_folder_that_is_gone_is_said_and_what_was_known_is_answered(
    folders: Folders, vault: Path
) -> None:
    put(vault, "harbour-plan.md", "Harbour Plan")
    folders.call("search_notes", query="kept")
    vault.rename(vault.with_name("away"))
    found = folders.call("search_notes", query="kept since May")
    assert [hit["title"] for hit in found.result["results"]] == ["Harbour Plan"]
    assert "cannot be read: No such file" in found.notice


def test_a_project_is_read_when_it_is_made(folders: Folders, tmp_path: Path) -> None:
    put(tmp_path / "port", "harbour-plan.md", "Harbour Plan")
    asked = {"project_name": "port", "project_path": str(tmp_path / "port"), "set_default": True}
    made = folders.call("create_memory_project", **asked)
    assert len(folders.files.list(folders.files.listed.named("port"))) == 1
    assert made.text.endswith("• Set as default project")
    assert folders.files.listed.read().default == "port"
