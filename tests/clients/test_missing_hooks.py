"""Hooks that were installed into repositories, and what others did to them since."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext, command
from observer.clients.installers import install, perform, uninstall
from observer.clients.shelf.git import EVENTS, missing_hooks, version

THEIRS = "#!/bin/sh\necho theirs\n"


def git(context: InstallContext, *words: str) -> None:
    environ = {**context.environ, "HOME": str(context.user_home)}
    subprocess.run(["git", *words], cwd=context.folder, env=environ, check=True)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def installed(context: InstallContext, tmp_path: Path) -> InstallContext:
    """The context of somebody who installed the hooks into a repository, and stands in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    there = replace(context, folder=folder)
    git(there, "init", "-q")
    if version(there) >= (2, 54):
        pytest.skip("this git has configured hooks")
    perform(install("git", there), there.home, at_ms=1)
    return there


def lefthook(context: InstallContext) -> None:
    hook = context.folder / ".git/hooks/post-commit"
    hook.rename(hook.with_name("post-commit.old"))
    put(hook, THEIRS)


def forced(context: InstallContext) -> None:
    put(context.folder / ".git/hooks/post-commit", THEIRS)


def switched_off(context: InstallContext) -> None:
    (context.folder / ".git/hooks/post-commit").chmod(0o644)


def removed(context: InstallContext) -> None:
    (context.folder / ".git/hooks/post-commit").unlink()


def pre_commit(context: InstallContext) -> None:
    hook = context.folder / ".git/hooks/post-commit"
    hook.rename(hook.with_name("post-commit.legacy"))
    put(hook, THEIRS)


def husky(context: InstallContext) -> None:
    put(context.folder / ".husky/_/post-commit", THEIRS)
    git(context, "config", "core.hooksPath", ".husky/_")


@pytest.mark.parametrize("deed", [lefthook, forced, switched_off, removed])
def test_a_hook_that_was_put_out_of_use_is_named_and_comes_back(
    installed: InstallContext, deed: Callable[[InstallContext], None]
) -> None:
    """Twice, since a manager does it again at its next installation."""
    for _ in range(2):
        assert missing_hooks(installed, ()) == []
        deed(installed)
        (found,) = missing_hooks(installed, ())
        assert found.found == f"in {installed.folder}, not run: post-commit"
        assert "observer install git" in found.hint
        (installed.folder / ".git/hooks/post-commit.old").unlink(missing_ok=True)
        perform(install("git", installed), installed.home, at_ms=1)
    assert missing_hooks(installed, ()) == []


def test_a_hook_that_another_runs_under_its_new_name_is_not_missed(
    installed: InstallContext,
) -> None:
    pre_commit(installed)
    assert missing_hooks(installed, ()) == []


def test_hooks_beside_a_folder_of_hooks_are_missed_until_they_are_called(
    installed: InstallContext,
) -> None:
    husky(installed)
    (found,) = missing_hooks(installed, ())
    assert "core.hooksPath" in found.found
    for event in EVENTS:
        assert event in found.hint
        put(installed.folder / ".husky" / event, command(installed.home, "post", "git", event))
    assert missing_hooks(installed, ()) == []
    assert not install("git", installed).is_change


def test_known_repositories_are_looked_at_from_anywhere(
    installed: InstallContext, tmp_path: Path
) -> None:
    forced(installed)
    elsewhere = replace(installed, folder=tmp_path)
    assert missing_hooks(elsewhere, ()) == []
    gone = str(tmp_path / "gone/.git")
    assert len(missing_hooks(elsewhere, [gone, str(installed.folder / ".git")])) == 1


def test_the_work_trees_of_a_bare_repository_are_where_to_repeat(
    installed: InstallContext, tmp_path: Path
) -> None:
    git(installed, "commit", "-q", "--allow-empty", "-m", "x")
    git(installed, "clone", "-q", "--bare", str(installed.folder), str(tmp_path / "bare"))
    bare = replace(installed, folder=tmp_path / "bare")
    git(bare, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = replace(installed, folder=tmp_path / "tree")
    perform(install("git", tree), tree.home, at_ms=1)
    assert missing_hooks(bare, ()) == []
    (bare.folder / "hooks/post-merge").unlink()
    for context in (bare, tree):
        (found,) = missing_hooks(context, ())
        assert found.found == f"in {bare.folder}, not run: post-merge"
        assert "work tree" in found.hint
    perform(install("git", tree), tree.home, at_ms=2)
    assert missing_hooks(bare, ()) == []


def test_hooks_of_a_home_that_was_moved_are_missed(installed: InstallContext) -> None:
    moved = replace(installed, home=type(installed.home)(installed.home.root.with_name("moved")))
    assert missing_hooks(moved, ()) == []
    installed.home.root.rename(moved.home.root)
    (found,) = missing_hooks(moved, ())
    assert "post-rewrite" in found.found


@pytest.mark.parametrize("deed", [lefthook, pre_commit, husky])
def test_uninstalling_removes_the_hooks_that_a_manager_moved_or_left_behind(
    installed: InstallContext, deed: Callable[[InstallContext], None]
) -> None:
    deed(installed)
    perform(uninstall("git", installed), installed.home, at_ms=1)
    left = [path for path in installed.folder.rglob("post-*") if b"observer" in path.read_bytes()]
    assert left == []
    assert missing_hooks(installed, ()) == []


def test_a_repository_without_our_hooks_is_left_alone(installed: InstallContext) -> None:
    perform(uninstall("git", installed), installed.home, at_ms=1)
    put(installed.folder / ".git/hooks/post-commit", THEIRS)
    assert missing_hooks(installed, ()) == []


def test_a_machine_without_git_has_no_silent_hooks(
    installed: InstallContext, tmp_path: Path
) -> None:
    assert missing_hooks(replace(installed, environ={"PATH": str(tmp_path)}), ()) == []


def test_configured_hooks_are_missed_when_one_is_gone(new_git: InstallContext) -> None:
    assert missing_hooks(new_git, ()) == []
    perform(install("git", new_git), new_git.home, at_ms=1)
    assert missing_hooks(new_git, ()) == []
    context = replace(new_git, folder=new_git.user_home)
    git(context, "config", "--global", "--remove-section", "hook.observer-post-merge")
    (found,) = missing_hooks(new_git, ())
    assert ".gitconfig" in found.found


def test_configured_hooks_are_missed_by_an_older_git(
    new_git: InstallContext, context: InstallContext
) -> None:
    perform(install("git", new_git), new_git.home, at_ms=1)
    if version(context) >= (2, 54):
        pytest.skip("this git has configured hooks")
    (found,) = missing_hooks(context, ())
    assert "2.54" in found.hint
