"""What the disk says about a folder, asked of real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import Place, Project
from observer.projects import (
    PlaceCache,
    detect_place,
    match_project,
    missing_roots,
    new_project,
    update_project,
)
from observer.projects.fs_probe import inode_of
from tests.support import Git

AT = 1_760_000_000_000
NOWHERE = Place(root="")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's home; projects live below it."""
    return tmp_path / "home"


@pytest.fixture
def shop(user: Path, git: Git) -> Path:
    """A repository with one commit, in `~/shop`."""
    return make(git, user / "shop")


def make(git: Git, folder: Path, *, subject: str = "first") -> Path:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return folder


def known(folder: Path) -> Project:
    return new_project(detect_place(str(folder)), id=2, at_ms=AT)


def same(project: Project, folder: Path) -> bool:
    place = detect_place(str(folder))
    return match_project(place, [project], gone=missing_roots(place, [project])) is project


def follow(project: Project, folder: Path) -> Project:
    place = detect_place(str(folder))
    gone = missing_roots(place, [project])
    assert match_project(place, [project], gone=gone) is project
    return update_project(project, place, gone=gone)


# --- what is seen --------------------------------------------------------------------------------


def test_a_work_tree_tells_all(shop: Path, git: Git) -> None:
    git(shop, "remote", "add", "upstream", "https://host/up/shop.git")
    git(shop, "remote", "add", "origin", "git@host:ana/shop.git")
    place = detect_place(str(shop))
    head = git(shop, "rev-parse", "HEAD")
    assert place.inode.startswith(f"{shop.stat().st_dev}:{(shop / '.git').stat().st_ino}")
    assert place == Place(
        root=str(shop),
        git=True,
        common_dir=str(shop / ".git"),
        inode=place.inode,
        remotes=("host/ana/shop", "host/up/shop"),
        root_commit=head,
        branch="main",
        commit=head,
    )


@pytest.mark.parametrize("part", ["deep/er", ".git", ".git/refs/heads", "gone/and/gone", "a.txt"])
def test_everything_inside_is_the_same_place(shop: Path, part: str) -> None:
    (shop / "deep/er").mkdir(parents=True)
    (shop / "a.txt").touch()
    assert detect_place(str(shop / part)) == detect_place(str(shop))


def test_links_bare_repositories_and_odd_remotes(shop: Path, user: Path, git: Git) -> None:
    (user / "link").symlink_to(shop)
    assert detect_place(str(user / "link")) == detect_place(str(shop))
    git(user, "clone", "-q", "--bare", str(shop), "shop.git")
    place = detect_place(str(user / "shop.git"))
    assert (place.root, place.common_dir) == (str(user / "shop.git"),) * 2
    assert detect_place(str(user / "shop.git/hooks")) == place
    with (shop / ".git/config").open("ab") as config:
        config.write(b'[remote "origin"]\nurl = /a\0b\n')
    assert detect_place(str(shop)).remotes == ()


def test_a_repository_without_commits_and_one_of_sha256(user: Path, git: Git) -> None:
    git(user / "new", "init", "-q")
    place = detect_place(str(user / "new"))
    assert (place.git, place.branch, place.commit, place.root_commit) == (True, "main", "", "")
    git(user / "long", "init", "-q", "--object-format=sha256")
    git(user / "long", "commit", "-q", "--allow-empty", "-m", "first")
    assert detect_place(str(user / "long")).root_commit == git(user / "long", "rev-parse", "HEAD")


def test_packed_refs_are_read_and_a_detached_head_has_no_branch(shop: Path, git: Git) -> None:
    git(shop, "branch", "xmain")
    git(shop, "pack-refs", "--all", "--prune")
    head = git(shop, "rev-parse", "HEAD")
    assert detect_place(str(shop)).commit == head
    git(shop, "checkout", "-q", "--detach")
    place = detect_place(str(shop))
    assert (place.branch, place.commit) == ("", head)


@pytest.fixture
def tabled(user: Path, git: Git) -> Path:
    """A repository whose refs are in tables; skip the test where git is older."""
    try:
        git(user / "new", "init", "-q", "--ref-format=reftable")
    except AssertionError:
        pytest.skip("this git knows no reftable")
    return user / "new"


def test_refs_in_tables_are_asked_for(tabled: Path, git: Git) -> None:
    remembered = PlaceCache()
    assert (remembered.at(str(tabled)).branch, detect_place(str(tabled)).commit) == ("main", "")
    for words in (("commit", "-q", "--allow-empty", "-m", "first"), ("checkout", "-q", "-b", "b")):
        git(tabled, *words)
    first = git(tabled, "rev-parse", "HEAD")
    place = remembered.at(str(tabled))
    assert (place.branch, place.commit, place.root_commit) == ("b", first, first)
    git(tabled, "worktree", "add", "-q", "--detach", "../other")
    place = detect_place(str(tabled.parent / "other"))
    assert (place.branch, place.commit) == ("", first)


def test_refs_in_tables_that_git_cannot_read_are_nothing(shop: Path) -> None:
    with (shop / ".git/config").open("a") as config:
        config.write("[core]\nrepositoryformatversion = 1\n[extensions]\nrefstorage = unheard-of\n")
    (shop / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    place = detect_place(str(shop))
    assert (place.root, place.branch, place.commit) == (str(shop), "", "")


def test_the_oldest_root_counts_which_a_shallow_clone_does_not_know(
    shop: Path, git: Git, user: Path
) -> None:
    git(shop, "checkout", "-q", "--orphan", "old")
    date = {"GIT_COMMITTER_DATE": "1000000000 +0000"}
    git(shop, "commit", "-q", "--allow-empty", "-m", "older", **date)
    oldest = git(shop, "rev-parse", "HEAD")
    git(shop, "merge", "-q", "--allow-unrelated-histories", "main", "-m", "join")
    assert detect_place(str(shop)).root_commit == oldest
    git(shop, "commit", "-q", "--allow-empty", "-m", "second")
    git(user, "clone", "-q", "--depth=1", f"file://{shop}", "shallow")
    place = detect_place(str(user / "shallow"))
    assert place.root_commit == ""
    assert place.commit


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"])
def test_variables_of_git_do_not_matter(
    shop: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = detect_place(str(shop))
    monkeypatch.setenv(name, str(tmp_path))
    assert detect_place(str(shop)) == before
    assert os.environ[name] == str(tmp_path)


# --- one project or two --------------------------------------------------------------------------


def test_worktrees_are_one_project(shop: Path, user: Path, git: Git) -> None:
    git(shop, "worktree", "add", "-q", str(user / "fix"), "-b", "fix")
    place = detect_place(str(user / "fix"))
    assert (place.root, place.common_dir) == (str(user / "fix"), str(shop / ".git"))
    assert place.branch == "fix"
    assert known(user / "fix").name == "shop"
    assert same(known(shop), user / "fix")
    assert same(known(user / "fix"), shop)


def test_clones_are_one_project_and_a_submodule_its_own(shop: Path, user: Path, git: Git) -> None:
    git(user, "clone", "-q", str(shop), "one")
    git(user, "clone", "-q", f"file://{shop}", "two")
    assert same(known(user / "one"), user / "two")
    assert same(known(shop), user / "one")
    assert same(known(user / "one"), shop)
    library = make(git, user / "lib", subject="library")
    git(shop, "submodule", "add", "-q", str(library), "vendor/lib")
    place = detect_place(str(shop / "vendor/lib"))
    assert place.root == str(shop / "vendor/lib")
    assert place.common_dir == str(shop / ".git/modules/vendor/lib")
    assert not same(known(shop), shop / "vendor/lib")


@pytest.mark.parametrize("remote", ["", "https://host/ana/shop"])
def test_a_renamed_repository_is_the_same(shop: Path, user: Path, git: Git, remote: str) -> None:
    if remote:
        git(shop, "remote", "add", "origin", remote)
    project = known(shop)
    after = follow(project, shop.rename(user / "store"))
    assert (after.name, after.earlier_names) == ("store", ("shop",))
    assert (after.roots, after.common_dirs) == ((str(user / "store"),), (str(user / "store/.git"),))


def test_a_renamed_repository_leaves_its_path_to_another(shop: Path, user: Path, git: Git) -> None:
    project = known(shop)
    shop.rename(user / "store")
    make(git, shop, subject="another")
    after = follow(project, user / "store")
    assert not same(after, shop)


def test_a_remote_may_go_and_a_corrupt_history_gives_no_root_commit(shop: Path, git: Git) -> None:
    project = known(shop)
    git(shop, "remote", "add", "origin", "https://host/ana/shop")
    project = follow(project, shop)
    git(shop, "remote", "set-url", "origin", "https://host/ana/store")
    project = follow(project, shop)
    git(shop, "remote", "remove", "origin")
    assert follow(project, shop).remotes == ("host/ana/store", "host/ana/shop")
    shutil.rmtree(shop / ".git/objects")
    (shop / ".git/objects").mkdir()
    place = detect_place(str(shop))
    assert place.commit
    assert place.root_commit == ""


def test_a_copy_is_another_project_and_a_folder_may_become_a_repository(
    shop: Path, user: Path, git: Git
) -> None:
    project = known(shop)
    shutil.copytree(shop, user / "copy")
    assert not same(project, user / "copy")
    shutil.rmtree(shop)
    assert same(project, user / "copy")
    (user / "app").mkdir()
    project = known(user / "app")
    project = follow(project, make(git, user / "app"))
    assert same(project, (user / "app").rename(user / "app2"))


def test_a_plain_folder_keeps_its_identity_when_renamed_and_not_when_copied(user: Path) -> None:
    (user / "notes").mkdir()
    project = known(user / "notes")
    after = follow(project, (user / "notes").rename(user / "jottings"))
    assert (after.name, after.earlier_names) == ("jottings", ("notes",))
    assert after.roots == (str(user / "jottings"),)
    (user / "notes").mkdir()
    project = known(user / "notes")
    shutil.copytree(user / "notes", user / "copy")
    assert not same(project, user / "copy")
    shutil.rmtree(user / "copy")
    (user / "notes").rmdir()
    (user / "other").mkdir()
    assert not same(project, user / "other")


# --- folders without git -------------------------------------------------------------------------


@pytest.mark.parametrize("marker", ["pyproject.toml", "package.json", "Makefile", ".git"])
def test_a_marker_makes_a_project(user: Path, marker: str) -> None:
    (user / "app/src").mkdir(parents=True)
    (user / "app" / marker).touch()
    place = detect_place(str(user / "app/src"))
    assert (place.root, place.git, place.marker) == (str(user / "app"), False, marker)


def test_the_nearest_marker_counts_or_the_folder_itself_if_it_is_there(user: Path) -> None:
    (user / "app/web/src").mkdir(parents=True)
    assert detect_place(str(user / "app/web/src")).root == str(user / "app/web/src")
    (user / "app/Makefile").touch()
    (user / "app/web/package.json").touch()
    assert detect_place(str(user / "app/web/src")).root == str(user / "app/web")
    (user / "work").mkdir()
    assert detect_place(str(user / "work/gone")) == NOWHERE
    (user / "work/Makefile").touch()
    assert detect_place(str(user / "work/gone")).root == str(user / "work")


def test_home_is_no_project_even_as_a_work_tree(user: Path, tmp_path: Path, git: Git) -> None:
    make(git, user, subject="dotfiles")
    (user / "package.json").touch()
    (user / "app").mkdir()
    assert detect_place(str(user)) == NOWHERE
    assert detect_place(str(tmp_path)) == NOWHERE
    assert (detect_place(str(user / "app")).root, detect_place(str(user / "app")).git) == (
        str(user / "app"),
        False,
    )


@pytest.mark.parametrize("folder", ["/", "//", "/tmp", "", "relative", "/\0", "/\ud800", "~"])
def test_no_place(folder: str) -> None:
    assert detect_place(folder) == NOWHERE


@pytest.mark.skipif(sys.platform != "linux", reason="procfs is Linux")
def test_where_the_kernel_or_file_system_tells_no_generation_an_inode_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inode_of("/proc").count(":") == 1
    monkeypatch.setattr(sys, "platform", "darwin")
    assert inode_of(str(tmp_path)).count(":") == 1


# --- hostile -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs"])
@given(data=st.binary(max_size=200))
def test_any_bytes_in_a_repository_are_survived(shop: Path, name: str, data: bytes) -> None:
    (shop / ".git/refs/heads/main").unlink(missing_ok=True)
    (shop / ".git" / name).write_bytes(data)
    assert detect_place(str(shop)).root == str(shop)


@pytest.mark.parametrize("content", ["gitdir: /nowhere", "gitdir: .", "", "gitdir: ../.git"])
def test_a_broken_gitfile_is_a_marker(user: Path, content: str) -> None:
    (user / "app").mkdir()
    (user / "app/.git").write_text(content)
    assert detect_place(str(user / "app")).root == str(user / "app")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_a_pipe_for_a_ref_holds_nobody_up(shop: Path, make: Callable[[Path], object]) -> None:
    (shop / ".git/refs/heads/main").unlink()
    make(shop / ".git/refs/heads/main")
    assert detect_place(str(shop)).commit == ""


@pytest.mark.parametrize("name", ["packed-refs", "config", "HEAD", "commondir", "shallow"])
def test_a_pipe_in_a_repository_holds_nobody_up(shop: Path, git: Git, name: str) -> None:
    git(shop, "pack-refs", "--all", "--prune")
    (shop / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(shop / ".git" / name)
    assert detect_place(str(shop)).root == str(shop)


def test_loops_odd_names_and_settings_of_clients_are_survived(user: Path, git: Git) -> None:
    (user / "loop").symlink_to(user / "loop")
    assert detect_place(str(user / "loop/x")) == NOWHERE
    folder = user / "a $HOME\nb\udcff"
    make(git, folder)
    assert detect_place(str(folder)).root == str(folder)
    (user / ".cursor").mkdir()
    assert detect_place(str(user / ".cursor")) == NOWHERE
    make(git, user / ".config/nvim")
    assert detect_place(str(user / ".config/nvim")).git


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_somebody_elses_repository_is_a_folder_with_a_marker(shop: Path) -> None:
    for path in (shop, *shop.rglob("*")):
        os.chown(path, 65534, 65534)
    place = detect_place(str(shop / ".git"))
    assert (place.root, place.git, place.marker, place.commit) == (str(shop), False, ".git", "")


def test_a_machine_without_git_still_has_places(shop: Path) -> None:
    program = (
        f"from observer.projects import detect_place; print(detect_place({str(shop)!r}).branch)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": "/nonexistent", "HOME": str(shop.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("main", "")
