"""git: configured hooks where it knows them, files in a repository where not; which are missed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext, InstallPlan, command
from observer.clients.installers import install, perform, uninstall
from observer.clients.shelf import git as git_client
from observer.clients.shelf.git import missing_hooks, version
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.paths import Home
from tests.support import ended, put_file

EVENTS = ["post-commit", "post-applypatch", "post-merge", "post-checkout", "post-rewrite"]


def git(context: InstallContext, *words: str, folder: Path | None = None) -> str:
    env = {**context.environ, "HOME": str(context.user_home)}
    done = ended(["git", *words], cwd=folder or context.folder, env=env, check=True)
    return str(done.stdout).strip()


@pytest.fixture
def repository(context: InstallContext, tmp_path: Path) -> InstallContext:
    """The context of somebody who stands in a repository, with this machine's git."""
    folder = tmp_path / "shop"
    folder.mkdir()
    there = replace(context, folder=folder)
    git(there, "init", "-q")
    if version(there) >= (2, 54):
        pytest.skip("this git has configured hooks")
    return there


def make(plan: InstallPlan, context: InstallContext) -> None:
    perform(plan, context.home, at_ms=1)


def spooled(context: InstallContext) -> list[bytes]:
    folder = context.home.spool
    return [(folder / "tmp" / path.name).read_bytes() for path in (folder / "new").iterdir()]


def commit(context: InstallContext) -> None:
    git(context, "commit", "-q", "--allow-empty", "-m", "a change")


# --- 2.54 and later ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["home", "ana's \\ other home"])
def test_new_git_includes_commands_that_report_and_never_fail(
    new_git: InstallContext, tmp_path: Path, name: str
) -> None:
    """A command stands before its event: else every commit in between would fail."""
    context = replace(new_git, home=Home(tmp_path / name))
    make(install("git", context), context)
    assert not install("git", context).is_change
    listed = git(context, "config", "--global", "--includes", "--list", "--name-only").splitlines()
    assert listed[0] == "include.path"
    wanted = [f"hook.observer-{event}.{key}" for event in EVENTS for key in ("command", "event")]
    assert listed[1:] == wanted
    git(context, "init", "-q", "shop")
    line = git(context, "config", "--global", "--includes", "hook.observer-post-commit.command")
    # This is how git runs it.
    words = ["sh", "-c", f'{line} "$@"', line]
    subprocess.run(words, cwd=tmp_path / "shop", env=dict(context.environ), check=True)
    assert [b"event=post-commit" in data for data in spooled(context)] == [True]
    (context.home.hooks / "post").unlink()
    subprocess.run(words, cwd=tmp_path / "shop", env=dict(context.environ), check=True)


@pytest.mark.measured
def test_what_a_user_sets_of_our_sections_stays(new_git: InstallContext) -> None:
    make(install("git", new_git), new_git)
    git(new_git, "config", "--global", "hook.observer-post-merge.enabled", "false")
    assert not install("git", new_git).is_change
    make(uninstall("git", new_git), new_git)
    left = git(new_git, "config", "--global", "--list")
    assert left == "hook.observer-post-merge.enabled=false"


@pytest.mark.parametrize(
    ("variable", "value", "there", "path"),
    [
        pytest.param("", "", "", ".gitconfig", id="usual"),
        pytest.param("", "", ".config/git/config", ".config/git/config", id="only-xdg"),
        pytest.param("GIT_CONFIG_GLOBAL", "{}/mine", "", "mine", id="chosen"),
        pytest.param("XDG_CONFIG_HOME", "{}/x", "x/git/config", "x/git/config", id="xdg-moved"),
    ],
)
def test_the_file_is_the_one_git_would_write(
    new_git: InstallContext, variable: str, value: str, there: str, path: str
) -> None:
    if there:
        put_file(new_git.user_home / there, "[user]\n\tname = Ana\n")
    environ = {**new_git.environ, variable: value.format(new_git.user_home)} if variable else None
    context = replace(new_git, environ=environ or new_git.environ)
    assert install("git", context).edits[-1].path == new_git.user_home / path


@pytest.mark.measured
def test_a_project_gets_its_own_configuration(new_git: InstallContext, tmp_path: Path) -> None:
    git(new_git, "init", "-q", "shop")
    named = replace(new_git, project=tmp_path / "shop")
    make(install("git", named), named)
    assert "hooks/git/config" in (tmp_path / "shop/.git/config").read_text()
    assert not (new_git.user_home / ".gitconfig").exists()
    make(uninstall("git", named), named)
    assert "observer" not in (tmp_path / "shop/.git/config").read_text()


def test_a_named_project_must_be_a_repository(new_git: InstallContext, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no git repository"):
        install("git", replace(new_git, project=tmp_path))


# --- before 2.54 ---------------------------------------------------------------------------------


def test_old_git_gets_files_that_report_commits(repository: InstallContext) -> None:
    make(install("git", repository), repository)
    commit(repository)
    head = git(repository, "rev-parse", "HEAD")
    (data,) = spooled(repository)
    assert b"event=post-commit" in data
    assert head.encode() in data


@pytest.mark.parametrize("folder", ["", "gone"])
def test_old_git_outside_of_repositories_is_bad_input(
    repository: InstallContext, tmp_path: Path, folder: str
) -> None:
    with pytest.raises(BadInput, match="in none"):
        install("git", replace(repository, folder=tmp_path / folder))


@pytest.mark.parametrize("planned", [install, uninstall])
def test_a_repository_that_git_refuses_is_not_called_none(
    repository: InstallContext, planned: Callable[[str, InstallContext], InstallPlan]
) -> None:
    script = repository.user_home / "git"
    script.write_text(
        f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n'
    )
    script.chmod(0o755)
    environ = {**repository.environ, "PATH": str(script.parent)}
    with pytest.raises(ConfigInvalid, match="dubious ownership"):
        planned("git", replace(repository, environ=environ))


def test_a_repository_without_a_work_tree_is_not_called_none(repository: InstallContext) -> None:
    inside = replace(repository, folder=repository.folder / ".git")
    with pytest.raises(ConfigInvalid, match="must be run in a work tree"):
        install("git", inside)


def test_subfolder_and_worktree_share_hooks(repository: InstallContext, tmp_path: Path) -> None:
    commit(repository)
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    make(install("git", replace(repository, folder=tmp_path / "tree")), repository)
    assert (repository.folder / ".git/hooks/post-commit").exists()
    (repository.folder / "sub").mkdir()
    assert not install("git", replace(repository, folder=repository.folder / "sub")).is_change


def test_a_hook_that_was_there_still_runs_and_comes_back(repository: InstallContext) -> None:
    hook = put_file(repository.folder / ".git/hooks/post-commit", "#!/bin/sh\necho theirs >ran\n")
    before = hook.read_bytes()
    make(install("git", repository), repository)
    commit(repository)
    assert (repository.folder / "ran").exists()
    assert len(spooled(repository)) == 1
    assert not install("git", repository).is_change
    make(uninstall("git", repository), repository)
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (before, 0o755)
    assert not hook.with_name("post-commit.observer-orig").exists()


def test_a_hook_switched_off_stays_off_and_none_is_left_over(repository: InstallContext) -> None:
    """But one that took the place of ours."""
    folder = repository.folder / ".git/hooks"
    hook = folder / "post-commit"
    put_file(hook, "#!/bin/sh\necho theirs >ran\n")
    hook.chmod(0o644)
    before = sorted(path.name for path in folder.iterdir())
    make(install("git", repository), repository)
    commit(repository)
    assert not (repository.folder / "ran").exists()
    (folder / "post-merge").write_text("#!/bin/sh\necho theirs\n")
    make(uninstall("git", repository), repository)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*before, "post-merge"])
    assert (folder / "post-merge").read_text() == "#!/bin/sh\necho theirs\n"


@pytest.mark.measured
def test_a_hook_that_pre_commit_moved_is_not_installed_twice(repository: InstallContext) -> None:
    folder = repository.folder / ".git/hooks"
    make(install("git", repository), repository)
    (folder / "post-commit").rename(folder / "post-commit.legacy")
    put_file(folder / "post-commit", '#!/bin/sh\n"$0.legacy" "$@"\n')
    assert missing_hooks(repository, ()) == []
    assert not install("git", repository).is_change
    commit(repository)
    assert len(spooled(repository)) == 1
    make(uninstall("git", repository), repository)
    assert not (folder / "post-commit.legacy").exists()
    assert (folder / "post-commit").exists()


def test_a_hooks_folder_elsewhere_is_respected(repository: InstallContext, tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    git(repository, "config", "core.hooksPath", str(tmp_path / "hooks"))
    make(install("git", repository), repository)
    commit(repository)
    assert len(spooled(repository)) == 1
    assert not (repository.folder / ".git/hooks/post-commit").exists()


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        pytest.param(".husky/_", ".husky/post-commit", id="husky"),
        pytest.param(".githooks", ".githooks/post-commit", id="committed"),
    ],
)
def test_a_folder_in_the_tree_is_kept(repository: InstallContext, folder: str, named: str) -> None:
    git(repository, "config", "core.hooksPath", folder)
    with pytest.raises(ConfigInvalid, match="working tree") as refused:
        install("git", repository)
    assert named in refused.value.hint
    assert "|| true" in refused.value.hint


def test_a_linked_hook_and_an_earlier_copy_are_left_alone(repository: InstallContext) -> None:
    folder = repository.folder / ".git/hooks"
    (folder / "post-commit").symlink_to("../../hook.sh")
    with pytest.raises(ConfigInvalid, match="symbolic link"):
        install("git", repository)
    (folder / "post-commit").unlink()
    (folder / "post-commit").write_text("#!/bin/sh\n")
    (folder / "post-commit.observer-orig").write_text("#!/bin/sh\n# precious\n")
    with pytest.raises(ConfigInvalid, match="in the way"):
        install("git", repository)


def test_a_hooks_environment_leads_nowhere(repository: InstallContext, tmp_path: Path) -> None:
    """`observer install git` run from a git hook or alias sees GIT_DIR of another repository."""
    git(repository, "init", "-q", str(tmp_path / "other"), folder=tmp_path)
    environ = {**repository.environ, "GIT_DIR": str(tmp_path / "other/.git")}
    make(install("git", replace(repository, environ=environ)), repository)
    assert (repository.folder / ".git/hooks/post-commit").exists()


def test_without_git_it_says_so(context: InstallContext, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="cannot run git: it is in no absolute folder"):
        install("git", replace(context, environ={"PATH": str(tmp_path / "nothing")}))


def test_a_git_that_says_no_is_quoted(context: InstallContext) -> None:
    with pytest.raises(ConfigInvalid, match="git config failed"):
        git_client._ask(context, "config", "--frobnicate")


# --- hooks that were installed, and what others did to them since --------------------------------

THEIRS = "#!/bin/sh\necho theirs\n"


@pytest.fixture
def installed(repository: InstallContext) -> InstallContext:
    """The context of somebody who installed the hooks into a repository, and stands in it."""
    make(install("git", repository), repository)
    return repository


def lefthook(context: InstallContext) -> None:
    hook = context.folder / ".git/hooks/post-commit"
    hook.rename(hook.with_name("post-commit.old"))
    put_file(hook, THEIRS)


def forced(context: InstallContext) -> None:
    put_file(context.folder / ".git/hooks/post-commit", THEIRS)


def pre_commit(context: InstallContext) -> None:
    hook = context.folder / ".git/hooks/post-commit"
    hook.rename(hook.with_name("post-commit.legacy"))
    put_file(hook, THEIRS)


def husky(context: InstallContext) -> None:
    put_file(context.folder / ".husky/_/post-commit", THEIRS)
    git(context, "config", "core.hooksPath", ".husky/_")


@pytest.mark.parametrize(
    "deed",
    [
        lefthook,
        forced,
        lambda context: (context.folder / ".git/hooks/post-commit").chmod(0o644),
        lambda context: (context.folder / ".git/hooks/post-commit").unlink(),
    ],
    ids=["lefthook", "forced", "switched off", "removed"],
)
def test_a_hook_that_was_put_out_of_use_is_named_and_comes_back(
    installed: InstallContext, deed: Callable[[InstallContext], None]
) -> None:
    """Twice, since a manager does it again at its next installation."""
    for _ in range(2):
        assert missing_hooks(installed, ()) == []
        deed(installed)
        (found,) = missing_hooks(installed, ())
        assert found.message == f"in {installed.folder}, not run: post-commit"
        assert "observer install git" in found.hint
        (installed.folder / ".git/hooks/post-commit.old").unlink(missing_ok=True)
        make(install("git", installed), installed)
    assert missing_hooks(installed, ()) == []


def test_hooks_beside_a_hooks_folder_are_missed_until_called(installed: InstallContext) -> None:
    husky(installed)
    (found,) = missing_hooks(installed, ())
    assert "core.hooksPath" in found.message
    for event in EVENTS:
        assert event in found.hint
        put_file(installed.folder / ".husky" / event, command(installed.home, "post", "git", event))
    assert missing_hooks(installed, ()) == []
    assert not install("git", installed).is_change


def test_known_repositories_are_looked_at_too(installed: InstallContext, tmp_path: Path) -> None:
    forced(installed)
    elsewhere = replace(installed, folder=tmp_path)
    assert missing_hooks(elsewhere, ()) == []
    gone = str(tmp_path / "gone/.git")
    assert len(missing_hooks(elsewhere, [gone, str(installed.folder / ".git")])) == 1


def test_trees_of_a_bare_repository_are_named(installed: InstallContext, tmp_path: Path) -> None:
    git(installed, "commit", "-q", "--allow-empty", "-m", "x")
    git(installed, "clone", "-q", "--bare", str(installed.folder), str(tmp_path / "bare"))
    bare = replace(installed, folder=tmp_path / "bare")
    git(bare, "worktree", "add", "-q", str(tmp_path / "tree"))
    tree = replace(installed, folder=tmp_path / "tree")
    make(install("git", tree), tree)
    assert missing_hooks(bare, ()) == []
    (bare.folder / "hooks/post-merge").unlink()
    for context in (bare, tree):
        (found,) = missing_hooks(context, ())
        assert found.message == f"in {bare.folder}, not run: post-merge"
        assert "work tree" in found.hint
    make(install("git", tree), tree)
    assert missing_hooks(bare, ()) == []


def test_hooks_of_a_home_that_was_moved_are_missed(installed: InstallContext) -> None:
    moved = replace(installed, home=type(installed.home)(installed.home.root.with_name("moved")))
    assert missing_hooks(moved, ()) == []
    installed.home.root.rename(moved.home.root)
    (found,) = missing_hooks(moved, ())
    assert "post-rewrite" in found.message


@pytest.mark.parametrize("deed", [lefthook, pre_commit, husky])
def test_uninstalling_removes_the_hooks_that_a_manager_moved_or_left_behind(
    installed: InstallContext, deed: Callable[[InstallContext], None]
) -> None:
    deed(installed)
    make(uninstall("git", installed), installed)
    left = [path for path in installed.folder.rglob("post-*") if b"observer" in path.read_bytes()]
    assert left == []
    assert missing_hooks(installed, ()) == []


def test_without_our_hooks_or_git_none_is_missed(installed: InstallContext, tmp_path: Path) -> None:
    forced(installed)
    assert missing_hooks(replace(installed, environ={"PATH": str(tmp_path)}), ()) == []
    make(uninstall("git", installed), installed)
    assert missing_hooks(installed, ()) == []


def test_an_older_git_misses_hooks(new_git: InstallContext, context: InstallContext) -> None:
    assert missing_hooks(new_git, ()) == []
    make(install("git", new_git), new_git)
    assert missing_hooks(new_git, ()) == []
    if version(context) >= (2, 54):
        pytest.skip("this git has configured hooks")
    (found,) = missing_hooks(context, ())
    assert "2.54" in found.hint
