"""What git gets in place of a repository's own folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.git import repository as module
from observer.git.process import git_output
from observer.git.repository import Repository, find_repository, mirror, repository_settings

Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git, home: Home) -> Path:
    home.root.mkdir(mode=0o700)  # else it stands elsewhere: looking at git makes no home
    git(tmp_path / "shop", "init", "-q")
    (tmp_path / "shop/a.txt").write_text("one\n")
    git(tmp_path / "shop", "add", "-A")
    git(tmp_path / "shop", "commit", "-q", "-m", "first")
    return tmp_path / "shop"


def repository(folder: Path) -> Repository:
    found = find_repository(str(folder))
    assert found
    return found


def test_it_stands_in_the_home_for_nobody_else(shop: Path, home: Home) -> None:
    folder = Path(mirror(repository(shop)))
    assert folder.is_relative_to(home.run)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_it_follows_the_configuration(shop: Path, git: Git) -> None:
    before = Path(mirror(repository(shop)))
    git(shop, "config", "core.autocrlf", "true")
    assert Path(mirror(repository(shop))) == before
    assert "autocrlf = true" in (before / "config").read_text()


def test_it_is_made_again_when_it_is_gone(shop: Path) -> None:
    folder = mirror(repository(shop))
    shutil.rmtree(folder)
    assert mirror(repository(shop)) == folder
    assert git_output(str(shop), "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_one_that_cannot_be_brought_up_to_date_is_made_elsewhere(shop: Path, home: Home) -> None:
    """As in a home that has become read-only since."""
    folder = Path(mirror(repository(shop)))
    (folder / "config").unlink()
    (folder / "config").mkdir()
    module._known.clear()
    assert not Path(mirror(repository(shop))).is_relative_to(home.run)
    assert git_output(str(shop), "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_links_that_lead_elsewhere_are_put_right(shop: Path, tmp_path: Path) -> None:
    folder = Path(mirror(repository(shop)))
    (folder / "objects").unlink()
    (folder / "objects").symlink_to(tmp_path)
    module._known.clear()
    mirror(repository(shop))
    assert (folder / "objects").resolve() == shop / ".git/objects"


def test_those_of_repositories_that_are_gone_go_too(shop: Path, tmp_path: Path, git: Git) -> None:
    git(shop, "worktree", "add", "-q", "../other")
    other = Path(mirror(repository(tmp_path / "other")))
    git(shop, "worktree", "remove", "../other")
    mirror(repository(shop))
    assert not other.exists()


def test_a_home_that_cannot_be_written_is_done_without(shop: Path, home: Home) -> None:
    home.root.mkdir(exist_ok=True)
    home.run.write_text("in the way")
    assert git_output(str(shop), "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert not Path(mirror(repository(shop))).is_relative_to(home.root)


def test_settings_of_a_work_tree_count(shop: Path, git: Git) -> None:
    (shop / "big").mkdir()
    git(shop, "sparse-checkout", "set", "--no-cone", "/*", "!/big")
    names = [setting.name for setting in repository_settings(repository(shop))]
    assert "core.sparsecheckout" in names


# --- honest repositories keep working ------------------------------------------------------------


def test_a_sparse_checkout_has_no_missing_files(shop: Path, git: Git) -> None:
    (shop / "big").mkdir()
    (shop / "big/b.txt").write_text("b\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "big")
    git(shop, "sparse-checkout", "set", "--no-cone", "/*", "!/big")
    assert not (shop / "big").exists()
    assert git_output(str(shop), "status", "--porcelain") == ""
    assert git_output(str(shop), "ls-files", "-d", "-m") == ""


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_line_ends_are_those_of_the_repository(shop: Path, git: Git, setting: str) -> None:
    git(shop, "config", "core.autocrlf", setting)
    (shop / "a.txt").write_bytes(b"one\r\n")
    said = git_output(str(shop), "status", "--porcelain") or ""
    assert said.strip() == git(shop, "status", "--porcelain")


def test_a_filtered_file_is_itself_while_the_index_knows_its_time(shop: Path, git: Git) -> None:
    git(shop, "config", "filter.upper.clean", "tr a-z A-Z")
    (shop / ".gitattributes").write_text("*.up filter=upper\n")
    (shop / "x.up").write_text("text\n")
    os.utime(shop / "x.up", (1, 1))
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "filtered")
    assert git(shop, "cat-file", "blob", "HEAD:x.up") == "TEXT"
    assert git_output(str(shop), "ls-files", "-m") == ""
    assert git_output(str(shop), "status", "--porcelain") == ""
