"""Where sessions of a corpus worked: whoever's folder it was, it is the clone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import stored
from sessions.corpus import Repository, Source
from sessions.history import History
from sessions.kept import Kept
from sessions.replay import Options, Replay

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


def places(corpus: Path, folder: Path) -> list[tuple[str, str]]:
    """Return where each session began and what it read, relative to the clone."""
    found = Repository(corpus, Source(), folder)
    return [
        tuple(
            str(event.payload.get("tool_input", {}).get("file_path", event.payload["cwd"])).replace(
                str(found.folder), "CLONE"
            )
            for event in (each.events[0], each.events[2])
        )
        for each in found.transcripts
    ]


@pytest.mark.parametrize(
    ("cwd", "file", "shown"),
    [
        pytest.param("", "/src/cart.py", ("CLONE", "CLONE/src/cart.py"), id="the top folder"),
        pytest.param("/src", "/src/cart.py", ("CLONE/src", "CLONE/src/cart.py"), id="a subfolder"),
    ],
)
@pytest.mark.parametrize(
    "root",
    [
        "/Users/ana/Code/shop",
        "/home/bo/work/shop",
        "/home/bo/work/shop-returns",
        "/Users/ana/Code/shop/.claude/worktrees/returns",
        "/home/src",
    ],
)
def test_the_folder_of_any_person_or_work_tree_is_the_clone(
    corpus: Path, tmp_path: Path, root: str, cwd: str, file: str, shown: tuple[str, str]
) -> None:
    ana = ("/Users/ana/Code/shop", "/Users/ana/Code/shop/src/desk.py")
    worked(corpus, ana, ana, (root + cwd, root + file))
    assert places(corpus, tmp_path / "kept") == [("CLONE", "CLONE/src/desk.py")] * 2 + [shown]


def test_a_folder_with_a_longer_name_is_another(corpus: Path, tmp_path: Path) -> None:
    worked(corpus, ("/Users/ana/Code/shop", "/Users/ana/Code/shop-old/src/cart.py"))
    assert places(corpus, tmp_path / "kept") == [("CLONE", "/Users/ana/Code/shop-old/src/cart.py")]


def test_no_session_of_another_person_is_left_without_a_project(
    corpus: Path, tmp_path: Path
) -> None:
    tree = "/Users/ana/Code/shop/.claude/worktrees/returns"
    worked(corpus, *((each, f"{each}/src/cart.py") for each in ("/home/bo/shop", tree)))
    kept = Kept(tmp_path / "kept", corpus)
    Replay(kept, Options()).run()
    figures = {each.name: each.value for each in stored.scored(kept).measures}
    assert figures["sessions in no project"] == 0


@pytest.mark.parametrize("words", [("-b", "returns"), ("--detach",)], ids=["a branch", "no branch"])
def test_a_clone_left_elsewhere_is_read_again(
    corpus: Path, tmp_path: Path, git: Git, words: tuple[str, ...]
) -> None:
    worked(corpus, ("/Users/ana/Code/shop", ""))
    found = Repository(corpus, Source(), tmp_path)
    git(found.folder, "checkout", "-q", *words)
    assert History(found.folder).main_name == "main"
    assert History(found.folder).branch_of == found.history.branch_of
