"""A client is detected by its commands and files, and never by what a repository has put there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.clients.installers import evidence
from observer.clients.registry import clients

QUILL = Client("quill", "", programs=("quill", "quill-cli"), folders=(".quill", ".config/quill"))


@pytest.fixture
def bare(context: InstallContext, tmp_path: Path) -> InstallContext:
    """A user without any program or shell."""
    (tmp_path / "bin").mkdir()
    return replace(context, environ={"PATH": str(tmp_path / "bin")})


def program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("client", clients().values(), ids=lambda client: client.name)
def test_nothing_is_found_on_a_bare_machine(client: Client, bare: InstallContext) -> None:
    assert evidence(client, bare) == ""


@pytest.mark.parametrize("name", QUILL.programs)
def test_a_command_in_the_path_is_found(name: str, bare: InstallContext, tmp_path: Path) -> None:
    path = program(tmp_path / "bin", name)
    assert evidence(QUILL, bare) == str(path)


@pytest.mark.parametrize("folder", QUILL.folders)
def test_a_folder_in_the_home_is_found(folder: str, bare: InstallContext) -> None:
    (bare.user_home / folder).mkdir(parents=True)
    assert evidence(QUILL, bare) == str(bare.user_home / folder)


def test_a_command_of_the_working_folder_is_not_found(
    bare: InstallContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "repository", "quill")
    monkeypatch.chdir(tmp_path / "repository")
    for path in (".", "", f":{bare.environ['PATH']}", f"bin:{bare.environ['PATH']}:"):
        assert evidence(QUILL, replace(bare, environ={"PATH": path})) == ""


def test_the_users_shell_is_found_without_a_start_up_file(bare: InstallContext) -> None:
    context = replace(bare, environ={**bare.environ, "SHELL": "/bin/zsh"})
    assert evidence(clients()["zsh"], context) == "/bin/zsh"
    assert evidence(clients()["bash"], context) == ""
