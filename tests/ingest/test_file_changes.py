"""What is shown of files that were saved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import Edit
from observer.ingest.file_changes import (
    MOST_COMPARED,
    MOST_NAMED,
    Save,
    bulk_change_event,
    edits_of,
    has_effect,
    is_temporary,
    merge_saves,
    save_event,
)

CODE = """class A:
    def f(self):
        a = 1
        return a

    def g(self):
        return 2
"""


def a_save(old: str | None, new: str | None, *, path: str = "src/a.py", at_ms: int = 5) -> Save:
    return Save(path=path, from_ms=at_ms, to_ms=at_ms, old=old, new=new)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("4913", id="vim's probe"),
        pytest.param(".a.py.swp", id="vim's swap file"),
        pytest.param("a.py~", id="backup"),
        pytest.param("#a.py#", id="emacs' autosave"),
        pytest.param(".#a.py", id="emacs' lock"),
        pytest.param("a.py.tmp", id="temporary"),
        pytest.param("a.py.tmp.4711.89", id="temporary with numbers"),
        pytest.param(".goutputstream-X8YZ", id="gedit"),
        pytest.param("a.py___jb_tmp___", id="IntelliJ"),
        pytest.param("sedAb3dE9", id="sed -i"),
    ],
)
def test_what_an_editor_writes_beside_is_passing(name: str) -> None:
    assert is_temporary(name)


@pytest.mark.parametrize("name", ["a.py", "swp.py", "tmp", ".env", "4913.md", "sedan.txt", "~a"])
def test_what_people_write_is_not_passing(name: str) -> None:
    assert not is_temporary(name)


def test_a_save_names_the_symbols_of_the_whole_file() -> None:
    symbols = save_event(a_save(CODE, CODE.replace("return a", "return -a")), "/app").symbols
    assert symbols
    assert symbols.changed == ("A.f",)


@pytest.mark.parametrize(("old", "operation"), [(None, "create"), (CODE, "edit")])
def test_of_a_save_without_text_only_the_file_is_shown(old: str | None, operation: str) -> None:
    save = Save(path="a.py", from_ms=1, to_ms=1, old=old, new="x", has_text=False)
    write = save_event(save, "/app")
    assert (write.operation, write.content, write.edits) == (operation, None, ())


def test_two_saves_are_shown_as_one() -> None:
    one = merge_saves(a_save("1", "2", at_ms=5), a_save("2", "3", at_ms=9))
    assert (one.old, one.new, one.from_ms, one.to_ms) == ("1", "3", 5, 9)


def test_a_change_undone_is_no_change() -> None:
    assert not has_effect(merge_saves(a_save("1", "2"), a_save("2", "1")))


def test_what_cannot_be_shown_counts_as_a_change() -> None:
    assert has_effect(Save(path="a", from_ms=0, to_ms=0, old="", new="", has_text=False))


def test_a_new_file_is_shown_with_its_content() -> None:
    write = save_event(a_save(None, "x = 1\n"), "/app")
    assert (write.path, write.operation, write.content) == ("/app/src/a.py", "create", "x = 1\n")


def test_a_file_that_went_is_shown_without_its_content() -> None:
    write = save_event(a_save("x = 1\n", None), "/app")
    assert (write.operation, write.content, write.edits) == ("delete", None, ())


@pytest.mark.parametrize(("old", "operation"), [("", "edit"), (None, "create")])
def test_what_is_not_known_is_not_shown(old: str | None, operation: str) -> None:
    save = Save(path="a", from_ms=0, to_ms=0, old=old, new="", has_text=False)
    write = save_event(save, "/app")
    assert (write.operation, write.content, write.edits) == (operation, None, ())


def test_an_edit_shows_the_definition_that_it_is_in() -> None:
    (edit,) = edits_of(CODE, CODE.replace("a = 1", "a = 2"), "a.py")
    assert edit.old.startswith("    def f(self):\n        a = 1\n")
    assert edit.new.startswith("    def f(self):\n        a = 2\n")
    assert "g" not in edit.new


def test_a_section_is_what_flat_text_is_in() -> None:
    old = "# One\n\n\n\n\ntext\n"
    (edit,) = edits_of(old, old.replace("text", "words"), "a.md")
    assert edit.new == "# One\n\n\n\n\nwords\n"


def test_changes_far_apart_are_two_edits() -> None:
    edits = list(edits_of(CODE, CODE.replace("a = 1", "a = 2").replace("2\n", "3\n"), "a.py"))
    assert [edit.new.strip().splitlines()[0] for edit in edits] == ["def f(self):", "def g(self):"]


def test_a_text_that_changed_everywhere_is_one_edit() -> None:
    old = "".join(f"{n}\n" for n in range(MOST_COMPARED + 1))
    (edit,) = edits_of(f"same\n{old}", f"same\n{old.replace('0', 'o').replace('1', 'l')}", "a.txt")
    assert edit.old.startswith("same\n")


def test_an_edit_of_lines_that_went_has_nothing_new() -> None:
    assert list(edits_of("a\n", "", "a.txt")) == [Edit(old="a\n", new="")]


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_edits_tell_all_that_differs(old: str, new: str) -> None:
    """Carrying them out, from the last to the first, gives the new text."""
    text, at = old, 0
    for edit in edits_of(old, new, "a.txt"):
        found = text.index(edit.old, at) if edit.old else at
        assert found >= 0
    edits = list(edits_of(old, new, "a.txt"))
    assert bool(edits) == (old.splitlines(keepends=True) != new.splitlines(keepends=True))
    grown = sum(len(edit.new) - len(edit.old) for edit in edits)
    assert len(new) - len(old) == grown


def test_many_files_are_shown_by_their_folders() -> None:
    saves = [a_save("", "x", path=f"gen/{n}.py") for n in range(MOST_NAMED + 5)]
    shown = bulk_change_event([*saves, a_save("", "x", path="top.py")], "/app")
    assert shown.text == "206 files changed at once: 205 in gen, 1 in ."
    assert len(shown.files) == MOST_NAMED
