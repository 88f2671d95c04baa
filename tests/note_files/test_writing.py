"""Writes of note files: whole, with the mode kept, and never over another's text."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from observer.core.errors import BadInput, NotFound
from observer.note_files import tree, writing
from tests.note_files.conftest import Vault

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from observer.note_files import tree, writing
folder, expected = sys.argv[1], sys.argv[2]
for number in range(10**9):
    data = (f"{number} " * 20000).encode()
    expected = writing.write(folder, "A.md", data, expected=expected)
    print(number, flush=True)
"""


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
