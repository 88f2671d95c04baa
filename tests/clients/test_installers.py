"""What holds for every client: merge, never overwrite; refuse; take out what is ours."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import (
    InstallContext,
    InstallPlan,
    current_context,
    diff,
    shipped,
)
from observer.clients.installers import install, installable, perform, uninstall
from observer.clients.registry import clients
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.paths import Home
from tests.clients.conftest import Files
from tests.clients.facts import facts_of
from tests.support import put_file

FACTS = {name: facts_of(name) for name in installable()}
AGENTS = [name for name in FACTS if clients()[name].is_agent]
"""Clients whose configuration has the MCP server in it."""
MCP_ONLY = [name for name in AGENTS if clients()[name].sample is None]
"""Clients that have the MCP server and no hooks of their own."""

every_target = pytest.mark.parametrize("name", installable())


@pytest.fixture
def context(new_git: InstallContext) -> InstallContext:
    """A git that has configured hooks, as the clients' common case."""
    return new_git


def given(context: InstallContext, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        put_file(context.user_home / name, content)


def make(plan: InstallPlan, context: InstallContext) -> list[Path]:
    return perform(plan, context.home, at_ms=1)


@pytest.mark.measured
@every_target
def test_what_others_have_stays_exactly(name: str, context: InstallContext, files: Files) -> None:
    """A plan touches nothing, a second run and an uninstallation of nothing change nothing."""
    given(context, FACTS[name].files)
    before = files()
    assert not uninstall(name, context).is_change
    plan = install(name, context)
    assert plan.is_change
    assert diff(plan.edits)
    assert (files(), context.home.root.exists()) == (before, False)
    make(plan, context)
    text = b"\n".join(files().values()).decode("utf-8", "replace")
    assert [mark for mark in FACTS[name].stays if mark not in text] == []
    assert (context.observer if name in MCP_ONLY else str(context.home.hooks)) in text
    again = install(name, context)
    assert (again.is_change, diff(again.edits)) == (False, "")
    make(uninstall(name, context), context)
    assert files() == before


@pytest.mark.parametrize("name", AGENTS)
def test_lines_of_windows_stay_so(name: str, context: InstallContext, files: Files) -> None:
    given(context, {path: text.replace(b"\n", b"\r\n") for path, text in FACTS[name].files.items()})
    before = files()
    make(install(name, context), context)
    assert [path for path in before if files()[path].replace(b"\r\n", b"").count(b"\n")] == []
    make(uninstall(name, context), context)
    assert files() == before


def folders(context: InstallContext) -> set[Path]:
    found = {path for path in context.user_home.rglob("*") if path.is_dir()}
    return {path for path in found if not path.is_relative_to(context.home.root)}


@every_target
def test_uninstalling_removes_the_files_and_folders_that_we_made(
    name: str, context: InstallContext, tmp_path: Path, files: Files
) -> None:
    """Also of a home whose path needs quoting."""
    moved = replace(context, home=Home(tmp_path / "ana's other home"))
    given(moved, FACTS[name].needed)
    context.user_home.mkdir(exist_ok=True)
    before = folders(moved)
    make(install(name, moved), moved)
    assert files() != FACTS[name].needed
    assert not install(name, moved).is_change
    make(uninstall(name, moved), moved)
    assert (files(), folders(moved)) == (FACTS[name].needed, before)


def test_a_folder_with_something_of_others_stays(context: InstallContext) -> None:
    there = context.user_home / ".claude"
    there.mkdir(parents=True)
    make(install("claude-code", context), context)
    make(uninstall("claude-code", context), context)
    assert there.is_dir()
    there.rmdir()
    make(install("claude-code", context), context)
    (there / "notes").mkdir()
    make(uninstall("claude-code", context), context)
    assert (there / "notes").is_dir()


@every_target
def test_a_broken_file_is_refused(name: str, context: InstallContext, files: Files) -> None:
    ((path, content),) = FACTS[name].broken.items()
    given(context, {path: content})
    with pytest.raises(ConfigInvalid, match=path.rpartition("/")[2]) as refused:
        install(name, context)
    assert refused.value.hint
    assert files() == {path: content}


@every_target
def test_two_homes_do_not_take_each_other_out(
    name: str, context: InstallContext, tmp_path: Path, files: Files
) -> None:
    given(context, FACTS[name].needed)
    other = replace(context, home=Home(tmp_path / "other"))
    for mine, theirs in ((context, other), (other, context)):
        make(install(name, mine), mine)
        before = files()
        make(uninstall(name, theirs), theirs)
        assert files() == before
        make(uninstall(name, mine), mine)
        assert files() == FACTS[name].needed


def test_an_unknown_client_is_bad_input(context: InstallContext) -> None:
    with pytest.raises(BadInput, match="emacs") as refused:
        install("emacs", context)
    assert "claude-code" in refused.value.hint


def test_the_context_of_this_process_has_its_user_and_command(home: Home, tmp_path: Path) -> None:
    context = current_context(home, project=Path("sub"))
    assert context.user_home == tmp_path / "home"
    assert Path(context.observer).name == "observer"
    assert context.project == Path.cwd() / "sub"


def test_no_command_is_said(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigInvalid, match="no observer command"):
        current_context(home)


# --- our own scripts -----------------------------------------------------------------------------


def test_an_upgrade_refreshes_our_scripts_and_leaves_old_ones(context: InstallContext) -> None:
    make(install("fish", context), context)
    assert (context.home.hooks / "shell" / "observer.fish").exists()
    assert (context.home.spool / "new").is_dir()
    post = context.home.hooks / "post"
    assert post.stat().st_mode & 0o777 == 0o700
    shipped = post.read_bytes()
    post.write_bytes(b"#!/bin/sh\n# an older version\n")
    post.chmod(0o600)
    (context.home.hooks / "retired").write_bytes(b"#!/bin/sh\n")
    assert make(install("fish", context), context) == []
    assert post.read_bytes() == shipped
    assert post.stat().st_mode & 0o777 == 0o700
    assert (context.home.hooks / "retired").exists()


def test_an_installation_without_scripts_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="scripts are missing"):
        shipped([tmp_path])
