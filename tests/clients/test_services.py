"""What is installed beside hooks: services, snippets; which clients are there, what is refused."""

from __future__ import annotations

import json
import plistlib
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from observer.cli.mcp import snippets
from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.clients.installers import LABEL, evidence, install, perform, uninstall
from observer.clients.registry import clients
from observer.core.errors import BadInput, ConfigInvalid, Undecodable
from observer.core.paths import Home
from observer.ingest.decode import decode
from tests.clients.conftest import Files
from tests.support import ended, put_file

UNIT = ".config/systemd/user/observer.service"
AGENT = f"Library/LaunchAgents/{LABEL}.plist"
FILES = {"systemd": UNIT, "launchd": AGENT}
ODD = 'it\'s 100% of $HOME\\ "here"'

each = pytest.mark.parametrize(("name", "path"), FILES.items())


def put(name: str, context: InstallContext) -> None:
    perform(install(name, context), context.home, at_ms=1)


@each
def test_a_file_comes_and_goes(context: InstallContext, files: Files, name: str, path: str) -> None:
    put(name, context)
    assert [*files()] == [path]
    assert not install(name, context).is_change
    plan = uninstall(name, context)
    assert plan.notes[0].startswith("Stop it as well: ")
    perform(plan, context.home, at_ms=2)
    assert (files(), uninstall(name, context).notes) == ({}, ())


@each
def test_a_foreign_file_stays(context: InstallContext, files: Files, name: str, path: str) -> None:
    put_file(context.user_home / path, "[Service]\nExecStart=/bin/true\n")
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
    env = {"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = ended(["systemd-analyze", "--user", "verify", odd.user_home / UNIT], env=env)
    assert (done.returncode, done.stderr) == (0, "")


def made(home: Path, tmp_path: Path) -> dict[str, str]:
    context = InstallContext(
        home=Home(home), user_home=tmp_path, observer="/o/observer", environ={}, folder=tmp_path
    )
    return {one["client"]: one["text"] for one in snippets(context)}


def test_the_usual_home_needs_no_environment(tmp_path: Path) -> None:
    found = made(tmp_path / ".observer", tmp_path)
    assert found["any other"] == "/o/observer mcp"
    assert shlex.split(found["claude-code"])[-3:] == ["--", "/o/observer", "mcp"]
    entry = json.loads(found["cursor"])["mcpServers"]["observer"]
    assert entry == {"command": "/o/observer", "args": ["mcp"]}


@pytest.mark.parametrize("client", ["cursor", "kiro", "claude-code", "any other"])
def test_another_home_travels_with_the_entry(tmp_path: Path, client: str) -> None:
    assert str(tmp_path / "my memory") in made(tmp_path / "my memory", tmp_path)[client]


@pytest.mark.parametrize(
    ("header", "payload", "reason"),
    [
        pytest.param("git post-commit", "", "hash of HEAD", id="commit-without-head"),
        pytest.param("git post-rewrite", "old new\n", "two hashes", id="rewrite-without-hashes"),
        pytest.param("bash command", "exit=0\0text=ls", "torn", id="record-without-its-end"),
        pytest.param("zsh command", "", "torn", id="record-empty"),
        pytest.param("generic report", "{}", "kind", id="report-without-a-kind"),
        pytest.param("generic command", "{}", "command", id="report-without-a-command"),
    ],
)
def test_a_payload_of_another_shape_is_refused(header: str, payload: str, reason: str) -> None:
    client, event = header.split()
    data = f"OBS1\0client={client}\0event={event}\0\0{payload}".encode()
    with pytest.raises(Undecodable, match=reason):
        decode("e", data, 1_763_715_600_000, cap_bytes=65_536)


TOKEN = "ghp_" + "k3JxQ9vTz1LmN8sWb5RcY2dFh7GpA0uEoViX"


@pytest.mark.parametrize(
    ("client", "event", "payload"),
    [
        pytest.param(TOKEN, "x", "{}", id="client"),
        pytest.param("generic", TOKEN, "{}", id="kind"),
        pytest.param("generic", "prompt", f'{{"text": "a", "at": "at {TOKEN}"}}', id="time"),
        pytest.param(
            "generic", "file-write", f'{{"path": "a", "operation": "{TOKEN}"}}', id="choice"
        ),
    ],
)
def test_the_reason_holds_no_secret_of_the_payload(client: str, event: str, payload: str) -> None:
    """Not even the beginning of one: what is quoted is cut, and must be cleaned before that."""
    data = f"OBS1\0client={client}\0event={event}\0\0{payload}".encode()
    with pytest.raises(Undecodable) as refused:
        decode("e", data, 1_763_715_600_000, cap_bytes=65_536)
    assert TOKEN[:12] not in str(refused.value)


QUILL = Client("quill", "", programs=("quill", "quill-cli"), folders=(".quill", ".config/quill"))


@pytest.fixture
def bare(context: InstallContext, tmp_path: Path) -> InstallContext:
    """A user without any program or shell."""
    (tmp_path / "bin").mkdir()
    return replace(context, environ={"PATH": str(tmp_path / "bin")})


@pytest.mark.parametrize("client", clients().values(), ids=lambda client: client.name)
def test_nothing_is_found_on_a_bare_machine(client: Client, bare: InstallContext) -> None:
    assert evidence(client, bare) == ""


@pytest.mark.parametrize(("name", "folder"), [*zip(QUILL.programs, QUILL.folders, strict=True)])
def test_a_folder_in_the_home_and_before_it_a_command_in_the_path_is_found(
    name: str, folder: str, bare: InstallContext, tmp_path: Path
) -> None:
    (bare.user_home / folder).mkdir(parents=True)
    assert evidence(QUILL, bare) == str(bare.user_home / folder)
    path = put_file(tmp_path / "bin" / name, "#!/bin/sh\n")
    assert evidence(QUILL, bare) == str(path)


def test_a_command_of_the_working_folder_is_not_found(
    bare: InstallContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(tmp_path / "repository" / "quill", "#!/bin/sh\n")
    monkeypatch.chdir(tmp_path / "repository")
    for path in (".", "", f":{bare.environ['PATH']}", f"bin:{bare.environ['PATH']}:"):
        assert evidence(QUILL, replace(bare, environ={"PATH": path})) == ""


def test_the_users_shell_is_found_without_a_start_up_file(bare: InstallContext) -> None:
    context = replace(bare, environ={**bare.environ, "SHELL": "/bin/zsh"})
    assert evidence(clients()["zsh"], context) == "/bin/zsh"
    assert evidence(clients()["bash"], context) == ""
