"""A user of Claude Code and bash whose hooks are installed, with a daemon where one is needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observer.cli.doctor.diagnosis import Diagnosis
from observer.cli.doctor.probes import probe_checks
from observer.clients.config_files.context import InstallContext, current_context
from observer.clients.installers import install, perform
from observer.core.paths import Home

Probed = Callable[..., dict[str, Diagnosis]]


@pytest.fixture
def context(home: Home, tmp_path: Path) -> InstallContext:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    return replace(current_context(home), environ=environ, folder=tmp_path)


@pytest.fixture
def put(context: InstallContext) -> Callable[..., None]:
    """Install clients."""

    def run(*names: str) -> None:
        for name in names:
            perform(install(name, context), context.home, at_ms=1)

    return run


@pytest.fixture
def probed(context: InstallContext) -> Probed:
    """Send probes, and return what became of each by its name."""
    return lambda *names: {one.name: one for one in probe_checks(context, names or None)}
