"""A user's home with a context in it, and the round that every installer must survive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.installers import Context, Plan, install, perform, uninstall
from observer.core.paths import Home

AT_MS = 1_795_000_000_000


@pytest.fixture
def context(home: Home, tmp_path: Path) -> Context:
    """The context of a user who has nothing yet."""
    environ = {name: os.environ[name] for name in os.environ if name != "XDG_CONFIG_HOME"}
    for name in ("ZDOTDIR", "CLAUDE_CONFIG_DIR", "CURSOR_DATA_DIR"):
        environ.pop(name, None)
    return Context(
        home=home,
        user_home=tmp_path / "home",
        observer="/opt/observer/bin/observer",
        environ=environ,
        folder=tmp_path,
    )


@pytest.fixture
def put(context: Context) -> Callable[[str], Plan]:
    """Install a client for good."""

    def run(name: str) -> Plan:
        plan = install(name, context)
        perform(plan, context.home, at_ms=AT_MS)
        return plan

    return run


@pytest.fixture
def drop(context: Context) -> Callable[[str], Plan]:
    """Uninstall a client for good."""

    def run(name: str) -> Plan:
        plan = uninstall(name, context)
        perform(plan, context.home, at_ms=AT_MS)
        return plan

    return run


@pytest.fixture
def spaced(context: Context, tmp_path: Path) -> Context:
    """The same user with a home of ours elsewhere, whose path needs quoting."""
    return replace(context, home=Home(tmp_path / "ana's other home"))


@pytest.fixture
def files(context: Context) -> Callable[[], dict[str, bytes]]:
    """Every file of the user by its relative path, ours left out."""

    def read() -> dict[str, bytes]:
        return {
            str(path.relative_to(context.user_home)): path.read_bytes()
            for path in sorted(context.user_home.rglob("*"))
            if path.is_file() and not path.is_relative_to(context.home.root)
        }

    return read


@pytest.fixture
def new_git(context: Context, tmp_path: Path) -> Context:
    """A context whose git says that it is 2.54, and is the real one in all else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "git"
    real = shutil.which("git")
    script.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo git version 2.54.0 && exit\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    path = f"{folder}{os.pathsep}{context.environ['PATH']}"
    return replace(context, environ={**context.environ, "PATH": path})
