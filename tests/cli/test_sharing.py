"""`observer sync`: two machines share a folder, each with its own daemon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from tests.cli.conftest import Run

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
    assert "observer sync add" in run("sync", "status").out


def test_a_share_that_is_none_is_an_error(run: Run, filled: Home, tmp_path: Path) -> None:
    ran = run("sync", "add", str(tmp_path / "nothing"), "--all", "--yes")
    assert (ran.code, "error: " in ran.err) == (1, True)


def test_an_unknown_share_is_named(run: Run, filled: Home) -> None:
    assert run("sync", "remove", "nothing", "--yes").code == 3
