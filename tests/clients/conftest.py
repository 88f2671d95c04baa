"""A user's home with a context in it, and the round that every installer must survive."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext, InstallPlan
from observer.clients.installers import install, perform, uninstall
from observer.core.paths import Home
from tests.support import ended, put_file

AT_MS = 1_795_000_000_000
Run = Callable[[str], InstallPlan]
Files = Callable[[], dict[str, bytes]]
Tmux = Callable[..., str]


@pytest.fixture
def context(home: Home, tmp_path: Path) -> InstallContext:
    """The context of a user who has nothing yet."""
    environ = {name: os.environ[name] for name in os.environ if name != "XDG_CONFIG_HOME"}
    for name in ("ZDOTDIR", *(name for name in environ if name.endswith(("_CONFIG_DIR", "_HOME")))):
        environ.pop(name, None)
    return InstallContext(
        home=home,
        user_home=tmp_path / "home",
        observer="/opt/observer/bin/observer",
        environ=environ,
        folder=tmp_path,
    )


def performed(plan: InstallPlan, context: InstallContext) -> InstallPlan:
    perform(plan, context.home, at_ms=AT_MS)
    return plan


@pytest.fixture
def put(context: InstallContext) -> Run:
    """Install a client for good."""
    return lambda name: performed(install(name, context), context)


@pytest.fixture
def drop(context: InstallContext) -> Run:
    """Uninstall a client for good."""
    return lambda name: performed(uninstall(name, context), context)


@pytest.fixture
def spaced(context: InstallContext, tmp_path: Path) -> InstallContext:
    """The same user with a home of ours elsewhere, whose path needs quoting."""
    return replace(context, home=Home(tmp_path / "ana's other home"))


def files_of(context: InstallContext) -> dict[str, bytes]:
    """Return every file of the user by its relative path, ours left out."""
    return {
        str(path.relative_to(context.user_home)): path.read_bytes()
        for path in sorted(context.user_home.rglob("*"))
        if path.is_file() and not path.is_relative_to(context.home.root)
    }


@pytest.fixture
def files(context: InstallContext) -> Files:
    return lambda: files_of(context)


def path_of_new_git(folder: Path) -> str:
    """Return a PATH whose git says that it is 2.54, and is the real one in all else."""
    says = '[ "$3" = version ] && echo git version 2.54.0 && exit'
    put_file(folder / "git", f'#!/bin/sh\n{says}\nexec {shutil.which("git")} "$@"\n')
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def new_git(context: InstallContext, tmp_path: Path) -> InstallContext:
    """A context whose git has configured hooks."""
    path = path_of_new_git(tmp_path / "bin")
    return replace(context, environ={**context.environ, "PATH": path})


@pytest.fixture
def tmux(context: InstallContext) -> Iterator[Tmux]:
    """Run commands of a tmux server of its own, in the home of the context."""
    here = {**context.environ, "HOME": str(context.user_home), "TERM": "xterm-256color"}
    here |= {"LC_ALL": "C.UTF-8", "PS1": "$ "}
    with tempfile.TemporaryDirectory() as folder:  # the name of a socket cannot be long
        words = ["tmux", "-u", "-S", f"{folder}/s", "-f", os.devnull]

        def run(*command: str) -> str:
            return str(ended([*words, *command], env=here, timeout=30).stdout).strip()

        yield run
        run("kill-server")
