"""`observer sync`: two machines share a folder, each with its own daemon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from observer.core.paths import Home
from tests.cli.conftest import Run
from tests.sync.conftest import Server, server

__all__ = ["server"]

Observer = Callable[..., "subprocess.CompletedProcess[str]"]


class Desk:
    """A machine: its home, and a project of the same name as the other's."""

    def __init__(self, observer: Observer, folder: Path, home: Path, person: str) -> None:
        self._observer = observer
        self._env = {"OBSERVER_HOME": str(home), "OBSERVER_OWNER": person}
        self.shop = folder / "shop"
        self.shop.mkdir(parents=True)
        (self.shop / "pyproject.toml").touch()

    def __call__(self, *words: str) -> Any:
        ran = self._observer(*words, "--json", PWD=str(self.shop), **self._env)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


@pytest.fixture
def desks(observer: Observer, tmp_path: Path, home: Home) -> Iterator[tuple[Desk, Desk]]:
    two = (
        Desk(observer, tmp_path / "ana", home.root, "ana"),
        Desk(observer, tmp_path / "ben", tmp_path / "b", "ben"),
    )
    yield two
    two[1]("down")


@pytest.mark.slow(most_s=300)
def test_a_share_on_a_server_is_founded_and_joined_by_its_address(
    desks: tuple[Desk, Desk], server: Server
) -> None:
    ana, ben = desks
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE desks")
    owner = server.url("desks")
    ana("sync", "add", owner, "--create", "--yes")
    logins = [ana("sync", "invite", owner, one)["code"] for one in ("ana", "ben")]
    ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ben("remember", "Use pnpm.", "--project", str(ben.shop))
    ana("sync", "add", logins[0], "--name", "team", "--all", "--yes")
    (done,) = ben("sync", "add", logins[1], "--name", "team", "--all", "--yes")
    assert (done["taken"], done["sent"]) == (1, 1)
    (row,) = ben("sync", "status")
    assert logins[1].split("@")[0].rpartition(":")[2] not in row["url"]


@pytest.mark.slow(most_s=300)
def test_what_one_machine_knows_the_other_finds(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    ana, ben = desks
    share = str(tmp_path / "share")
    kept = ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ben("remember", "Use pnpm.", "--project", str(ben.shop))
    ana("sync", "add", share, "--create", "--all", "--yes")
    code = ana("sync", "invite", "share", "ben")["code"]
    (done,) = ben("sync", "add", share, "--code", code, "--all", "--yes")
    assert (done["taken"], done["sent"]) == (1, 1)
    assert ana("sync", "now")[0]["taken"] == 1
    ana("forget", str(kept["id"]), "--yes")
    ana("sync", "now")
    assert ben("sync", "now")[0]["taken"] == 1
    (row,) = ben("sync", "status")
    assert (row["waiting"], row["refused"], row["fault"]) == (0, [], "")
    assert ana("sync", "remove", "share", "--yes")["dropped"] == 1
    assert ana("sync", "status") == []


def test_nothing_shared_says_how(run: Run, filled: Home) -> None:
    del filled
    assert "observer sync add" in run("sync", "status").out


def test_a_share_that_is_none_is_an_error(run: Run, filled: Home, tmp_path: Path) -> None:
    del filled
    ran = run("sync", "add", str(tmp_path / "nothing"), "--all", "--yes")
    assert (ran.code, "error: " in ran.err) == (7, True)


def test_an_unknown_share_is_named(run: Run, filled: Home) -> None:
    del filled
    assert run("sync", "remove", "nothing", "--yes").code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((".",), "lies in the git work tree"),
        (("s", "--project", "app", "--all"), "--project chooses some"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    run: Run, filled: Home, app: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    del filled
    (app / ".git").mkdir(exist_ok=True)
    monkeypatch.setenv("PWD", str(app))
    monkeypatch.chdir(app)
    ran = run("sync", "add", *words, "--create", "--yes")
    assert (ran.code, said in ran.err) == (2, True)
    assert not (app / "s").exists()


@pytest.mark.slow
def test_a_share_that_is_away_is_said_and_fails(
    desks: tuple[Desk, Desk], observer: Observer, tmp_path: Path
) -> None:
    ana, share = desks[0], tmp_path / "share"
    ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ana("sync", "add", str(share), "--create", "--all", "--yes")
    share.rename(tmp_path / "away")
    ran = observer("sync", "now")
    assert (ran.returncode, f"there is no folder {share}" in ran.stderr) == (7, True)
    again = observer("sync", "add", str(share), "--name", "b", "--all", "--yes")
    assert (again.returncode, "it is shared already, as 'share'" in again.stderr) == (2, True)
