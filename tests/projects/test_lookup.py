"""Places are remembered, and never stale where it matters; files lead to their own project."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from observer import projects
from observer.core.events import AnyBody, Command, Event, FileRead, FileWrite, Intent
from observer.projects import FRESH_S, PlaceCache, event_folder
from tests.support import Git


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "home/shop"
    git(folder, "init", "-q")
    for subject in ("first", "second"):
        git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["commit", "-q", "--allow-empty", "-m", "third"], id="commit"),
        pytest.param(["commit", "-q", "--amend", "--allow-empty", "-m", "other"], id="amend"),
        pytest.param(["checkout", "-q", "-b", "topic"], id="branch"),
        pytest.param(["checkout", "-q", "--detach"], id="detach"),
        pytest.param(["branch", "-m", "trunk"], id="renamed-branch"),
        pytest.param(["remote", "add", "origin", "https://host/o/n"], id="remote"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_change_is_seen_at_once(shop: Path, git: Git, words: list[str], *, packed: bool) -> None:
    if packed:
        git(shop, "pack-refs", "--all", "--prune")
    remembered = PlaceCache()
    before = remembered.at(str(shop))
    git(shop, *words)
    after = remembered.at(str(shop))
    assert after != before
    assert after == PlaceCache().at(str(shop))


def test_a_worktree_has_a_head_of_its_own(shop: Path, git: Git, tmp_path: Path) -> None:
    git(shop, "worktree", "add", "-q", str(tmp_path / "home/fix"), "-b", "fix")
    remembered = PlaceCache()
    remembered.at(str(tmp_path / "home/fix"))
    git(tmp_path / "home/fix", "commit", "-q", "--allow-empty", "-m", "second")
    place = remembered.at(str(tmp_path / "home/fix"))
    assert (place.branch, place.commit) == ("fix", git(shop, "rev-parse", "fix"))
    assert remembered.at(str(shop)).branch == "main"


def test_what_a_folder_becomes_is_seen_at_once_or_after_a_while(tmp_path: Path, git: Git) -> None:
    folder = tmp_path / "home/app"
    folder.mkdir()
    remembered = PlaceCache()
    assert not remembered.at(str(folder)).git
    git(folder, "init", "-q")
    assert remembered.at(str(folder)).git
    now = [0.0]
    folder = tmp_path / "home/web/src"
    folder.mkdir(parents=True)
    remembered = PlaceCache(now_s=lambda: now[0])
    remembered.at(str(folder))
    (folder.parent / "Makefile").touch()
    assert remembered.at(str(folder)).root == str(folder)
    now[0] = FRESH_S + 1
    assert remembered.at(str(folder)).root == str(folder.parent)


def test_a_hit_is_the_same_object_and_a_deleted_folder_keeps_its_place(shop: Path) -> None:
    remembered = PlaceCache()
    before = remembered.at(str(shop))
    assert remembered.at(str(shop)) is before
    shutil.rmtree(shop)
    assert remembered.at(str(shop)) == before


def test_memory_is_bounded(shop: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MOST_FOLDERS", 2)
    remembered = PlaceCache()
    for name in ("a", "b", "c"):
        git(shop.parent, "clone", "-q", str(shop), name)
        remembered.at(str(shop.parent / name))
    assert len(remembered._root_commits) == len(remembered._entries) == 2
    assert str(shop.parent / "c") in remembered._entries


def test_the_oldest_commit_is_asked_once(shop: Path, git: Git) -> None:
    remembered = PlaceCache()
    first = remembered.at(str(shop)).root_commit
    shutil.rmtree(shop / ".git/objects")
    (shop / ".git/objects").mkdir()
    (shop / ".git/HEAD").write_text("ref: refs/heads/main\n\n")
    assert remembered.at(str(shop)).root_commit == first


# --- which folder --------------------------------------------------------------------------------


def event(body: AnyBody, **fields: object) -> Event:
    return Event(**{"id": "e", "at_ms": 1, "client": "claude-code", "body": body} | fields)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda path: FileWrite(path=path), id="write"),
        pytest.param(lambda path: FileRead(paths=(path, "/else")), id="read"),
        pytest.param(lambda path: Intent(tool="Edit", of=FileWrite(path=path)), id="intent"),
    ],
)
@pytest.mark.parametrize("path", ["{shop}/x.py", "{shop}/new/deep/x.py", "../shop/a/../x.py"])
def test_a_file_is_of_its_work_tree(shop: Path, body: Callable[[str], AnyBody], path: str) -> None:
    cwd = str(shop.parent / "elsewhere")
    assert event_folder(event(body(path.format(shop=shop)), cwd=cwd)) == str(shop)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(FileWrite(path="/elsewhere/x.py"), id="outside-any-work-tree"),
        pytest.param(FileWrite(path="x.py"), id="relative"),
        pytest.param(FileWrite(path=""), id="no-path"),
        pytest.param(FileRead(paths=()), id="no-paths"),
        pytest.param(FileWrite(path="/\0/x.py"), id="nul"),
        pytest.param(FileWrite(path="/\ud800/x.py"), id="surrogate"),
        pytest.param(FileWrite(path="//x.py"), id="double-slash"),
        pytest.param(Command(command="ls /work"), id="command"),
    ],
)
def test_all_else_counts_where_the_client_is(body: AnyBody, tmp_path: Path) -> None:
    assert event_folder(event(body, cwd=str(tmp_path), roots=("/r",))) == str(tmp_path)


@pytest.mark.parametrize(
    ("command", "below"),
    [
        ("cd shop && pytest -q", True),
        ("set -e; cd ./shop/deep/er; make test", True),
        ("export CI=1 && cd {home} && cd shop && pytest", True),
        ("(cd shop && pytest) | tail -3", True),
        ("git -C shop commit -m 'Add x'", True),
        ("npm --prefix shop test", True),
        ("cd {home}/shop/ && pytest", True),
        ("pytest shop/tests", False),
        ("pytest; cd shop", False),
        ("cd $DIR && pytest", False),
        ("cd elsewhere && pytest", False),
        ("cd ../.. && pytest", False),
        ("cd", False),
    ],
)
def test_a_command_counts_where_it_goes(shop: Path, command: str, *, below: bool) -> None:
    line = Command(command=command.format(home=shop.parent))
    folder = event_folder(event(line, cwd=str(shop.parent)))
    assert folder == str(shop if below else shop.parent)


def test_a_command_beside_the_client_counts_where_that_is(shop: Path) -> None:
    (shop.parent / "other").mkdir()
    here = str(shop.parent / "other")
    assert event_folder(event(Command(command="cd ../shop && make"), cwd=here)) == here


@pytest.mark.parametrize(
    ("client", "cwd", "roots", "folder"),
    [
        ("claude-code", "/a", ("/r",), "/a"),
        ("claude-code", "", ("/r", "/s"), "/r"),
        ("claude-code", "", (), ""),
        ("cursor", "/home/ana/.cursor", ("/r", "/s"), "/r"),
        ("cursor", "/s/sub", ("/r", "/s"), "/s/sub"),
        ("cursor", "/rest", ("/r",), "/r"),
        ("cursor", "/a", (), "/a"),
    ],
)
def test_the_client_folder(client: str, cwd: str, roots: tuple[str, ...], folder: str) -> None:
    happening = event(Command(command="ls"), client=client, cwd=cwd, roots=roots)
    assert event_folder(happening) == folder


def test_a_dotfiles_repository_claims_no_files(tmp_path: Path, git: Git) -> None:
    git(tmp_path / "home", "init", "-q")
    happening = event(FileWrite(path=str(tmp_path / "home/notes/x.md")), cwd="/c")
    assert event_folder(happening) == "/c"
