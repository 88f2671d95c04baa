"""Shares of each kind, with as many machines as a test wants."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from observer.sync import carriers
from observer.sync.record import Carrier, ProjectKey, Record


class Share(Protocol):
    """A share that carriers are opened on, one a machine; machines are opened in any order."""

    def open(self, machine: str) -> Carrier: ...
    def vanish(self) -> None: ...


class FileShare(NamedTuple):
    url: str
    homes: Path

    def open(self, machine: str) -> Carrier:
        home = self.homes / machine
        if home.is_dir():
            return carriers.open_carrier(self.url, home)
        if not (founder := self.homes / "founder").is_dir():
            carriers.create_share(self.url, founder, person="Ana").close()
        code = carriers.open_files(self.url, founder).invite(machine)
        return carriers.join_share(self.url, home, code)

    def vanish(self) -> None:
        shutil.move(self.url, f"{self.url}-away")


@pytest.fixture
def folder_share(tmp_path: Path) -> FileShare:
    return FileShare(str(tmp_path / "share"), tmp_path)


@pytest.fixture
def git_share(tmp_path: Path) -> FileShare:
    url = str(tmp_path / "share.git")
    subprocess.run(["git", "init", "--quiet", "--bare", url], check=True)
    return FileShare(url, tmp_path)


@pytest.fixture(params=["folder", "git"])
def share(request: pytest.FixtureRequest) -> Share:
    found: Share = request.getfixturevalue(f"{request.param}_share")
    return found


@pytest.fixture
def machine(share: Share) -> Iterator[Callable[[str], Carrier]]:
    opened = []

    def open_one(name: str) -> Carrier:
        opened.append(share.open(name))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def chain() -> Callable[..., list[Record]]:
    return a_chain


def a_chain(origin: str, length: int, *, body: str = '{"title": "a note"}') -> list[Record]:
    found: list[Record] = []
    for sequence in range(1, length + 1):
        record = Record(
            origin=origin,
            sequence=sequence,
            previous=found[-1].hash() if found else "",
            kind="item",
            uuid=f"{origin}-{sequence}",
            project=ProjectKey(name="shop"),
            author="Ana",
            visibility="project",
            at_ms=sequence,
            body=body,
        )
        found.append(record)
    return found
