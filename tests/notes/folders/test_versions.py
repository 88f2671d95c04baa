"""What a tool replaces, moves or deletes comes back: notes, pictures, whole folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from observer.core.errors import BadInput, NotFound
from observer.notes.folders import NoteFolder
from observer.notes.folders.writing import KEPT_MS, TIDY_EVERY, NoteVersions
from tests.notes.folders.conftest import Vault

PICTURE = b"\x89PNG\0\xff"


@pytest.fixture
def vault(vault: Vault) -> Vault:
    """A note folder with a folder of two notes, a picture and a hidden file."""
    for path in ("trip/A.md", "trip/deep/B.md"):
        vault.put(path, f"alpha of {path}")
    vault.put("trip/deep/map.png", PICTURE)
    vault.put("trip/.hidden", "x")
    vault.scan()
    return vault


def files_of(vault: Vault, below: str = "") -> set[str]:
    found = (vault.root / below).rglob("*")
    return {str(path.relative_to(vault.root)) for path in found if path.is_file()}


ALL = {"trip/A.md", "trip/deep/B.md", "trip/deep/map.png", "trip/.hidden"}


def test_a_replaced_note_comes_back_and_the_undo_too(vault: Vault) -> None:
    was = vault.files.read(vault.folder, "trip/A.md")
    number = vault.files.write(vault.folder, "trip/A.md", "beta", expected=was.checksum).number
    assert vault.files.versions.undo(number).act == "replaced"
    assert vault.files.read(vault.folder, "trip/A.md").text == was.text
    vault.files.versions.undo()
    assert vault.files.read(vault.folder, "trip/A.md").text == "beta"


def test_a_replaced_note_comes_back_where_the_new_one_is_gone(vault: Vault) -> None:
    was = vault.files.read(vault.folder, "trip/A.md")
    vault.files.write(vault.folder, "trip/A.md", "beta", expected=was.checksum)
    (vault.root / "trip/A.md").unlink()
    vault.files.versions.undo()
    assert vault.files.read(vault.folder, "trip/A.md").text == was.text


def test_a_deleted_note_comes_back(vault: Vault) -> None:
    was = vault.files.read(vault.folder, "trip/A.md")
    vault.files.delete(vault.folder, "trip/A.md", expected=was.checksum)
    vault.files.versions.undo()
    assert vault.files.read(vault.folder, "trip/A.md").text == was.text


def test_a_deleted_folder_goes_with_all_that_is_in_it_and_comes_back(vault: Vault) -> None:
    done, number = vault.files.delete_folder(vault.folder, "trip")
    assert set(done) == ALL
    assert (vault.paths(), files_of(vault)) == ({}, set())
    vault.files.versions.undo(number)
    assert files_of(vault) == ALL
    assert (vault.root / "trip/deep/map.png").read_bytes() == PICTURE


def test_a_moved_folder_takes_all_along_and_comes_back(vault: Vault) -> None:
    ids = set(vault.paths().values())
    moved = vault.files.move_folder(vault.folder, "trip", "old/trip")
    assert len(moved.done) == 4
    assert not moved.left
    assert files_of(vault) == {f"old/{path}" for path in ALL}
    assert set(vault.paths().values()) == ids
    vault.files.versions.undo(moved.number)
    assert files_of(vault) == ALL


def test_a_folder_moves_into_another_but_for_what_is_there_already(vault: Vault) -> None:
    vault.put("log/A.md", "somebody else's")
    vault.put("log/deep/C.md", "there before")
    moved = vault.files.move_folder(vault.folder, "trip", "log")
    assert moved.left == ["trip/A.md"]
    assert set(moved.done) == {"log/deep/B.md", "log/deep/map.png", "log/.hidden"}
    assert files_of(vault, "trip") == {"trip/A.md"}
    vault.files.versions.undo(moved.number)
    assert files_of(vault) == ALL | {"log/A.md", "log/deep/C.md"}


@pytest.mark.parametrize("target", ["trip", "trip/deep/again", "A.md"])
def test_a_folder_goes_neither_into_itself_nor_over_a_file(vault: Vault, target: str) -> None:
    vault.put("A.md", "a file")
    with pytest.raises(BadInput):
        vault.files.move_folder(vault.folder, "trip", target)
    assert files_of(vault) == ALL | {"A.md"}


def test_a_folder_that_is_not_there_is_neither_moved_nor_deleted(vault: Vault) -> None:
    (vault.root / "link").symlink_to(vault.root / "trip")
    for path in ("absent", "link", "trip/A.md"):
        with pytest.raises(NotFound):
            vault.files.move_folder(vault.folder, path, "x")
        with pytest.raises(NotFound):
            vault.files.delete_folder(vault.folder, path)
    assert len(files_of(vault)) == 4


def test_what_has_the_path_by_now_is_not_replaced(vault: Vault) -> None:
    _, number = vault.files.delete_folder(vault.folder, "trip")
    vault.put("trip/New.md", "written since")
    with pytest.raises(BadInput, match="again"):
        vault.files.versions.undo(number)
    shutil.rmtree(vault.root / "trip")
    vault.files.versions.undo(number)
    assert files_of(vault) == ALL


def test_a_folder_that_the_system_does_not_let_go_stays(vault: Vault) -> None:
    vault.home.note_versions.parent.mkdir(exist_ok=True)
    vault.home.note_versions.write_text("in the way")
    with pytest.raises(BadInput, match="cannot be written"):
        vault.files.delete_folder(vault.folder, "trip")
    assert files_of(vault) == ALL


def test_there_is_nothing_to_undo_at_first(vault: Vault) -> None:
    with pytest.raises(NotFound, match="nothing to undo"):
        vault.files.versions.undo()
    vault.files.move_folder(vault.folder, "trip", "old")
    with pytest.raises(NotFound, match="no such change"):
        vault.files.versions.undo(7)


def test_what_is_old_goes_but_for_the_latest(vault: Vault) -> None:
    at_ms = [0]
    versions = NoteVersions(vault.home, lambda: at_ms[0])
    for number in range(1, TIDY_EVERY + 1):
        at_ms[0] = number * KEPT_MS
        versions.keep(vault.folder, "A.md", b"x", "replaced")
    assert [each.number for each in versions.all()] == [TIDY_EVERY, TIDY_EVERY - 1]


def test_a_change_that_is_not_whole_is_not_listed(vault: Vault) -> None:
    versions = vault.files.versions
    number = versions.keep(vault.folder, "A.md", b"x", "replaced")
    place = vault.home.note_versions / str(number)
    (place / "was").unlink()
    (place.with_name("8")).mkdir()
    assert versions.all() == []
    assert versions.keep(vault.folder, "A.md", b"x", "replaced") == 9


def test_without_a_home_nothing_is_kept(tmp_path: Path) -> None:
    versions = NoteVersions(None, lambda: 0)
    assert versions.all() == []
    with pytest.raises(BadInput, match="no home"):
        versions.keep(NoteFolder(name="a", path=str(tmp_path)), "A.md", b"x", "replaced")
