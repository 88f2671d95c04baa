"""Writes of note files: whole, never over another's text, and what they replace comes back."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from observer.core.errors import BadInput, NotFound
from observer.notes.folders import NoteFolder, tree
from observer.notes.folders.note_files import KEPT_MS, TIDY_EVERY, NoteVersions
from tests.notes.folders.conftest import Vault

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from observer.notes.folders import tree
folder, expected = sys.argv[1], sys.argv[2]
for number in range(10**9):
    data = (f"{number} " * 20000).encode()
    expected = tree.write(folder, "A.md", data, expected=expected)
    print(number, flush=True)
"""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture(params=["Linux", "no renameat2", "neither renameat2 nor links"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the file system knows: the last is exFAT on an old kernel."""
    if request.param != "Linux":
        monkeypatch.setattr(tree, "_renameat2", lambda: None)
    if request.param.startswith("neither"):
        monkeypatch.setattr(os, "link", _refuse)
    return str(request.param)


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """The file is one of the versions that were written, and none that was confirmed is lost."""
    (tmp_path / "A.md").write_bytes(b"first")
    for wait in range(4):
        before = tree.checksum((tmp_path / "A.md").read_bytes())
        command = [sys.executable, "-c", WRITER, str(tmp_path), before]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as writer:
            assert writer.stdout is not None
            last = [int(writer.stdout.readline()) for _ in range(3 + wait)][-1]
            writer.send_signal(signal.SIGKILL)
            last = max([last, *map(int, writer.stdout.read().split())])
        held = (tmp_path / "A.md").read_text()
        number = int(held.split()[0])
        assert held == f"{number} " * 20000
        assert last <= number <= last + 1


def test_a_write_keeps_the_mode(vault: Vault) -> None:
    vault.put("A.md", "alpha")
    (vault.root / "A.md").chmod(0o640)
    before = vault.files.read(vault.folder, "A.md")
    vault.files.write(vault.folder, "A.md", "beta", expected=before.checksum)
    assert (vault.root / "A.md").stat().st_mode & 0o777 == 0o640
    assert [file.name for file in vault.root.iterdir()] == ["A.md"]


@pytest.mark.usefixtures("file_system")
def test_every_text_of_many_writers_is_kept(vault: Vault) -> None:
    """Of those who change the same version one wins; what the others wrote is beside the file."""
    vault.put("A.md", "first")
    expected = tree.checksum(b"first")
    texts = [f"text {number}".encode() for number in range(12)]

    def write(text: bytes) -> None:
        try:
            tree.write(str(vault.root), "A.md", text, expected=expected)
        except tree.NoteConflict:
            return

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = {file.read_bytes() for file in vault.root.iterdir()}
    assert kept == set(texts)


@pytest.mark.parametrize("name", ["x" * 250 + ".md", "名" * 83 + ".md"])
def test_a_long_name_can_be_written(vault: Vault, name: str) -> None:
    vault.files.write(vault.folder, name, "alpha", expected=tree.NEW)
    with pytest.raises(tree.NoteConflict):
        vault.files.write(vault.folder, name, "beta", expected=tree.NEW)
    assert (vault.root / name).read_text() == "alpha"


@pytest.mark.usefixtures("file_system")
def test_notes_are_made_and_moved_on_every_file_system(vault: Vault) -> None:
    vault.files.write(vault.folder, "a/A.md", "alpha", expected=tree.NEW)
    vault.files.move(vault.folder, "a/A.md", "b/B.md")
    with pytest.raises(tree.NoteConflict):
        vault.files.write(vault.folder, "b/B.md", "else", expected=tree.NEW)
    before = vault.files.read(vault.folder, "b/B.md")
    vault.files.write(vault.folder, "b/B.md", "beta", expected=before.checksum)
    found = {path.name: path.read_text() for path in vault.root.rglob("*") if path.is_file()}
    [kept] = [name for name in found if name.startswith(".B.md.conflict-")]
    assert found == {"B.md": "beta", kept: "else"}


@pytest.mark.usefixtures("file_system")
def test_nothing_is_moved_over_a_file_or_deleted_unseen(vault: Vault) -> None:
    vault.put("A.md", "alpha")
    vault.put("B.md", "beta")
    vault.scan()
    with pytest.raises(BadInput, match="already"):
        vault.files.move(vault.folder, "A.md", "B.md")
    with pytest.raises(NotFound):
        vault.files.move(vault.folder, "C.md", "D.md")
    with pytest.raises(tree.NoteConflict):
        vault.files.delete(vault.folder, "A.md", expected=tree.checksum(b"else"))
    assert sorted(vault.paths()) == ["A.md", "B.md"]


OWN = "a1b2c3d4e5f6"


LOST = f".A.md.conflict-{tree.checksum(b'x')[:12]}"
DRAFTS = {
    "a draft": (f".A.md.observer-{OWN}.tmp", ""),
    "as known": (f".A.md.observer-{OWN}.was-{tree.checksum(b'x')[:12]}", ""),
    "somebody's text": (f".A.md.observer-{OWN}.was-{tree.checksum(b'y')[:12]}", LOST),
    "another's file": (".A.md.tmp", ".A.md.tmp"),
    "a loser": (LOST, LOST),
    "not hidden": (f"A.observer-{OWN}.tmp", f"A.observer-{OWN}.tmp"),
}


@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("kind", DRAFTS)
def test_a_scan_removes_old_drafts(vault: Vault, kind: str, *, is_old: bool) -> None:
    name, kept = DRAFTS[kind]
    vault.put(f"deep/{name}", "x")
    (vault.root / f".other.observer-{OWN}.tmp").mkdir()
    (vault.root / f".link.observer-{OWN}.tmp").symlink_to(vault.root / "deep" / name)
    vault.later_ms = 2 * 3_600_000 if is_old else 0
    vault.scan()
    left = [path.name for path in (vault.root / "deep").iterdir()]
    assert left == ([kept] * bool(kept) if is_old else [name])
    assert len(list(vault.root.iterdir())) == 3


PICTURE = b"\x89PNG\0\xff"


@pytest.fixture
def trips(vault: Vault) -> Vault:
    """A note folder with a folder of two notes, a picture and a hidden file."""
    for path in ("trip/A.md", "trip/deep/B.md"):
        vault.put(path, f"alpha of {path}")
    vault.put("trip/deep/map.png", PICTURE)
    vault.put("trip/.hidden", "x")
    vault.scan()
    return vault


def files_of(trips: Vault, below: str = "") -> set[str]:
    found = (trips.root / below).rglob("*")
    return {str(path.relative_to(trips.root)) for path in found if path.is_file()}


ALL = {"trip/A.md", "trip/deep/B.md", "trip/deep/map.png", "trip/.hidden"}


def test_a_replaced_or_deleted_note_comes_back_and_the_undo_too(trips: Vault) -> None:
    was = trips.files.read(trips.folder, "trip/A.md")
    number = trips.files.write(trips.folder, "trip/A.md", "beta", expected=was.checksum).number
    assert trips.files.versions.undo(number).act == "replaced"
    assert trips.files.read(trips.folder, "trip/A.md").text == was.text
    trips.files.versions.undo()
    assert trips.files.read(trips.folder, "trip/A.md").text == "beta"
    (trips.root / "trip/A.md").unlink()
    trips.files.versions.undo()
    assert trips.files.read(trips.folder, "trip/A.md").text == was.text
    trips.files.delete(trips.folder, "trip/A.md", expected=was.checksum)
    trips.files.versions.undo()
    assert trips.files.read(trips.folder, "trip/A.md").text == was.text


def test_a_folder_goes_with_all_that_is_in_it_and_comes_back_if_it_can(trips: Vault) -> None:
    done, number = trips.files.delete_folder(trips.folder, "trip")
    assert set(done) == ALL
    assert (trips.paths(), files_of(trips)) == ({}, set())
    trips.files.versions.undo(number)
    assert files_of(trips) == ALL
    assert (trips.root / "trip/deep/map.png").read_bytes() == PICTURE
    _, number = trips.files.delete_folder(trips.folder, "trip")
    trips.put("trip/New.md", "written since")
    with pytest.raises(BadInput, match="again"):
        trips.files.versions.undo(number)
    shutil.rmtree(trips.root / "trip")
    trips.files.versions.undo(number)
    assert files_of(trips) == ALL


def test_a_folder_moves_with_its_notes_and_back(trips: Vault) -> None:
    ids = set(trips.paths().values())
    moved = trips.files.move_folder(trips.folder, "trip", "old/trip")
    assert len(moved.done) == 4
    assert not moved.left
    assert files_of(trips) == {f"old/{path}" for path in ALL}
    assert set(trips.paths().values()) == ids
    trips.files.versions.undo(moved.number)
    assert files_of(trips) == ALL


def test_a_folder_moves_into_another_but_for_what_is_there_already(trips: Vault) -> None:
    trips.put("log/A.md", "somebody else's")
    trips.put("log/deep/C.md", "there before")
    moved = trips.files.move_folder(trips.folder, "trip", "log")
    assert moved.left == ["trip/A.md"]
    assert set(moved.done) == {"log/deep/B.md", "log/deep/map.png", "log/.hidden"}
    assert files_of(trips, "trip") == {"trip/A.md"}
    trips.files.versions.undo(moved.number)
    assert files_of(trips) == ALL | {"log/A.md", "log/deep/C.md"}


@pytest.mark.parametrize("target", ["trip", "trip/deep/again", "A.md"])
def test_a_folder_goes_neither_into_itself_nor_over_a_file(trips: Vault, target: str) -> None:
    trips.put("A.md", "a file")
    with pytest.raises(BadInput):
        trips.files.move_folder(trips.folder, "trip", target)
    assert files_of(trips) == ALL | {"A.md"}


def test_a_folder_that_is_not_there_is_neither_moved_nor_deleted(trips: Vault) -> None:
    (trips.root / "link").symlink_to(trips.root / "trip")
    for path in ("absent", "link", "trip/A.md"):
        with pytest.raises(NotFound):
            trips.files.move_folder(trips.folder, path, "x")
        with pytest.raises(NotFound):
            trips.files.delete_folder(trips.folder, path)
    assert len(files_of(trips)) == 4


def test_a_folder_that_the_system_does_not_let_go_stays(trips: Vault) -> None:
    trips.home.note_versions.parent.mkdir(exist_ok=True)
    trips.home.note_versions.write_text("in the way")
    with pytest.raises(BadInput, match="cannot be written"):
        trips.files.delete_folder(trips.folder, "trip")
    assert files_of(trips) == ALL


def test_there_is_nothing_to_undo_at_first_or_without_a_home(trips: Vault, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to undo"):
        trips.files.versions.undo()
    trips.files.move_folder(trips.folder, "trip", "old")
    with pytest.raises(NotFound, match="no such change"):
        trips.files.versions.undo(7)
    versions = NoteVersions(None, lambda: 0)
    assert versions.all() == []
    with pytest.raises(BadInput, match="no home"):
        versions.keep(NoteFolder(name="a", path=str(tmp_path)), "A.md", "replaced", data=b"x")


def test_what_is_old_goes_but_for_the_latest(trips: Vault) -> None:
    at_ms = [0]
    versions = NoteVersions(trips.home, lambda: at_ms[0])
    for number in range(1, TIDY_EVERY + 1):
        at_ms[0] = number * KEPT_MS
        versions.keep(trips.folder, "A.md", "replaced", data=b"x")
    assert [each.number for each in versions.all()] == [TIDY_EVERY, TIDY_EVERY - 1]


def test_a_change_that_is_not_whole_is_not_listed(trips: Vault) -> None:
    versions = trips.files.versions
    number = versions.keep(trips.folder, "A.md", "replaced", data=b"x").number
    place = trips.home.note_versions / str(number)
    (place / "was").unlink()
    (place.with_name("8")).mkdir()
    assert versions.all() == []
    assert versions.keep(trips.folder, "A.md", "replaced", data=b"x").number == 9
