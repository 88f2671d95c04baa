"""Which repository is around a folder; the hostile ones are in tests/faults."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.git.repository import find_repository

Git = Callable[..., str]


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    git(tmp_path / "shop", "init", "-q")
    git(tmp_path / "shop", "commit", "-q", "--allow-empty", "-m", "first")
    (tmp_path / "shop/deep/er").mkdir(parents=True)
    return tmp_path / "shop"


def at(folder: Path) -> tuple[str, ...] | None:
    found = find_repository(str(folder))
    return found and (found.root, found.git_dir, found.common_dir)


@pytest.mark.parametrize("inside", [".", "deep/er", ".git", ".git/refs/heads"])
def test_the_work_tree_is_found_from_anywhere_inside(shop: Path, inside: str) -> None:
    assert at(shop / inside) == (str(shop), f"{shop}/.git", f"{shop}/.git")


def test_git_agrees_on_linked_work_trees_and_submodules(shop: Path, git: Git) -> None:
    git(shop, "worktree", "add", "-q", "../other")
    git(shop, "submodule", "--quiet", "add", str(shop), "lib")
    asked = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    for root in (shop.parent / "other", shop / "lib"):
        assert at(root) == (str(root), *git(root, *asked).split("\n"))


def test_a_repository_beside_its_work_tree(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--separate-git-dir=store", "app")
    assert at(tmp_path / "app") == (f"{tmp_path}/app", *(f"{tmp_path}/store",) * 2)


def test_a_folder_called_git_that_is_none_is_passed_by(shop: Path) -> None:
    (shop / "deep/.git/refs").mkdir(parents=True)
    assert at(shop / "deep/er") == at(shop)


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere\n", "gitdir:", "x"])
def test_a_gitfile_that_leads_nowhere_ends_the_search(shop: Path, content: str) -> None:
    (shop / "deep/.git").write_text(content)
    assert at(shop / "deep/er") is None


def test_a_pipe_called_git_ends_the_search(shop: Path) -> None:
    os.mkfifo(shop / "deep/.git")
    assert at(shop / "deep/er") is None


def test_a_bare_repository_is_found_outside_of_work_trees_only(
    shop: Path, tmp_path: Path, git: Git
) -> None:
    for folder in (tmp_path / "bare.git", shop / "bare.git"):
        git(tmp_path, "clone", "-q", "--bare", str(shop), str(folder))
    found = find_repository(str(tmp_path / "bare.git/refs"))
    assert found
    assert (found.root, found.is_bare) == (f"{tmp_path}/bare.git", True)
    assert at(shop / "bare.git/refs") == at(shop)


def test_there_may_be_none(tmp_path: Path) -> None:
    assert at(tmp_path) is None


def test_a_folder_in_place_of_a_file_is_survived(shop: Path) -> None:
    (shop / ".git/commondir").mkdir()
    assert at(shop) == (str(shop), f"{shop}/.git", f"{shop}/.git")
