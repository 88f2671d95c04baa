"""Where sessions of a corpus worked: what a replay's clone is read for."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions.corpus import Repository, Source
from sessions.history import History

from tests.evaluation.conftest import Git
from tests.importers.played import BEGUN_MS, Played

HOUR_MS = 3_600_000


@pytest.fixture
def corpus(tmp_path: Path, shop: Path, git: Git) -> Path:
    """The bundle of the shop, as yet without transcripts."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    git(shop, "bundle", "create", "-q", str(folder / "repository.bundle"), "--all")
    return folder


def worked(corpus: Path, *sessions: tuple[str, str]) -> Path:
    """Add a session for each folder, that prompts and reads a file by its path."""
    for number, (cwd, file) in enumerate(sessions):
        played = Played(Path(cwd), f"s{number}", begun_ms=BEGUN_MS + number * HOUR_MS)
        played.prompt("look at the cart")
        if file:
            played.call("Read", {"file_path": file}, {"type": "text"})
        played.say("It holds a limit.")
        played.write(corpus / "transcripts")
    return corpus


@pytest.mark.parametrize("words", [("-b", "returns"), ("--detach",)], ids=["a branch", "no branch"])
def test_a_clone_left_elsewhere_is_read_again(
    corpus: Path, tmp_path: Path, git: Git, words: tuple[str, ...]
) -> None:
    worked(corpus, ("/Users/ana/Code/shop", ""))
    found = Repository(corpus, Source(), tmp_path)
    git(found.folder, "checkout", "-q", *words)
    assert History(found.folder).main_name == "main"
    assert History(found.folder).branch_of == found.history.branch_of
