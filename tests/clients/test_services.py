"""The files for systemd and launchd: what they start, whom they respect, how they go."""

from __future__ import annotations

import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform, uninstall
from observer.clients.services import LABEL
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.paths import Home

UNIT = ".config/systemd/user/observer.service"
AGENT = f"Library/LaunchAgents/{LABEL}.plist"
FILES = {"systemd": UNIT, "launchd": AGENT}
ODD = 'it\'s 100% of $HOME\\ "here"'

Files = Callable[[], dict[str, bytes]]
each = pytest.mark.parametrize(("name", "path"), FILES.items())


def put(name: str, context: InstallContext) -> None:
    perform(install(name, context), context.home, at_ms=1)


@each
def test_a_file_is_written_and_taken_away(
    context: InstallContext, files: Files, name: str, path: str
) -> None:
    put(name, context)
    assert [*files()] == [path]
    assert not install(name, context).is_change
    perform(uninstall(name, context), context.home, at_ms=2)
    assert files() == {}


@each
def test_a_file_of_somebody_else_is_refused_and_stays(
    context: InstallContext, files: Files, name: str, path: str
) -> None:
    file = context.user_home / path
    file.parent.mkdir(parents=True)
    file.write_text("[Service]\nExecStart=/bin/true\n")
    with pytest.raises(ConfigInvalid, match="is not a file of observer"):
        install(name, context)
    assert not uninstall(name, context).is_change
    assert files()[path].startswith(b"[Service]")


@each
def test_another_homes_file_stays(
    context: InstallContext, files: Files, tmp_path: Path, name: str, path: str
) -> None:
    put(name, context)
    other = replace(context, home=Home(tmp_path / "other"))
    assert not uninstall(name, other).is_change
    moved = replace(context, observer="/elsewhere/observer")
    assert uninstall(name, moved).is_change


@each
def test_a_repository_has_no_service(
    context: InstallContext, tmp_path: Path, name: str, path: str
) -> None:
    with pytest.raises(BadInput, match=f"{name} has no settings for one repository"):
        install(name, replace(context, project=tmp_path))


def test_launchd_starts_the_daemon_of_this_home(context: InstallContext, tmp_path: Path) -> None:
    odd = replace(context, home=Home(tmp_path / ODD / "<&>"))
    put("launchd", odd)
    found = plistlib.loads((odd.user_home / AGENT).read_bytes())
    assert found["ProgramArguments"] == [odd.observer, "daemon"]
    assert found["EnvironmentVariables"] == {"OBSERVER_HOME": str(odd.home.root)}
    assert found["Label"] == LABEL
    assert uninstall("launchd", odd).is_change


def test_systemd_starts_the_daemon_of_this_home(context: InstallContext) -> None:
    put("systemd", context)
    lines = (context.user_home / UNIT).read_text().splitlines()
    assert f'ExecStart=/usr/bin/env "{context.observer}" daemon' in lines
    assert f'Environment="OBSERVER_HOME={context.home.root}"' in lines
    assert "WantedBy=default.target" in lines


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_reads_a_unit_of_odd_paths(context: InstallContext, tmp_path: Path) -> None:
    program = tmp_path / ODD / "observer"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    odd = replace(context, observer=str(program), home=Home(tmp_path / ODD / "home"))
    put("systemd", odd)
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(odd.user_home / UNIT)],
        env={"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
