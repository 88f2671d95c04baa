"""Writes of note files: whole, with the mode kept, and never over another's text."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from observer.core.errors import BadInput, NotFound
from observer.notes.folders import tree, writing
from tests.notes.folders.conftest import Vault

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from observer.notes.folders import tree, writing
folder, expected = sys.argv[1], sys.argv[2]
for number in range(10**9):
    data = (f"{number} " * 20000).encode()
    expected = writing.write(folder, "A.md", data, expected=expected)
    print(number, flush=True)
"""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture(params=["Linux", "no renameat2", "neither renameat2 nor links"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the file system knows: the last is exFAT on an old kernel."""
    if request.param != "Linux":
        monkeypatch.setattr(writing, "_renameat2", lambda: None)
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
            writing.write(str(vault.root), "A.md", text, expected=expected)
        except writing.NoteConflict:
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
    vault.files.write(vault.folder, name, "alpha", expected=writing.NEW)
    with pytest.raises(writing.NoteConflict):
        vault.files.write(vault.folder, name, "beta", expected=writing.NEW)
    assert (vault.root / name).read_text() == "alpha"


@pytest.mark.usefixtures("file_system")
def test_notes_are_made_and_moved_on_every_file_system(vault: Vault) -> None:
    vault.files.write(vault.folder, "a/A.md", "alpha", expected=writing.NEW)
    vault.files.move(vault.folder, "a/A.md", "b/B.md")
    with pytest.raises(writing.NoteConflict):
        vault.files.write(vault.folder, "b/B.md", "else", expected=writing.NEW)
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
    with pytest.raises(writing.NoteConflict):
        vault.files.delete(vault.folder, "A.md", expected=tree.checksum(b"else"))
    assert sorted(vault.paths()) == ["A.md", "B.md"]


OWN = "a1b2c3d4e5f6"


@pytest.mark.parametrize(
    ("name", "is_old", "kept"),
    [
        pytest.param(f".A.md.observer-{OWN}.tmp", True, [], id="a draft"),
        pytest.param(f".A.md.observer-{OWN}.tmp", False, [f".A.md.observer-{OWN}.tmp"], id="young"),
        pytest.param(
            f".A.md.observer-{OWN}.was-{tree.checksum(b'x')[:12]}", True, [], id="as known"
        ),
        pytest.param(
            f".A.md.observer-{OWN}.was-{tree.checksum(b'y')[:12]}",
            True,
            [f".A.md.conflict-{tree.checksum(b'x')[:12]}"],
            id="somebody's text",
        ),
        pytest.param(".A.md.tmp", True, [".A.md.tmp"], id="another's file"),
        pytest.param(".A.md.conflict-0123", True, [".A.md.conflict-0123"], id="a loser"),
        pytest.param(f"A.observer-{OWN}.tmp", True, [f"A.observer-{OWN}.tmp"], id="not hidden"),
    ],
)
def test_a_scan_removes_what_killed_writers_left(
    vault: Vault, name: str, *, is_old: bool, kept: list[str]
) -> None:
    vault.put(f"deep/{name}", "x")
    (vault.root / f".other.observer-{OWN}.tmp").mkdir()
    (vault.root / f".link.observer-{OWN}.tmp").symlink_to(vault.root / "deep" / name)
    vault.later_ms = 2 * 3_600_000 if is_old else 0
    vault.scan()
    assert [path.name for path in (vault.root / "deep").iterdir()] == kept
    assert len(list(vault.root.iterdir())) == 3
