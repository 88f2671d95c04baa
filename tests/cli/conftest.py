"""A command line inside this process, and a memory that was filled without a daemon."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from observer.cli import main
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from tests.support import pipeline_over, put_file


class Ran(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def check(self, name: str) -> Any:
        """Return what `doctor --json` found of one thing."""
        return next(check for check in self.json["checks"] if check["name"] == name)


Run = Callable[..., Ran]
Fill = Callable[[Sequence[dict[str, Any]]], None]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line."""

    def call(*words: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(os.fsencode(stdin))))
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Ran(int(ended.value.code or 0), out.decode(), err.decode())

    return call


def answered(answer: bytes, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line with a terminal on which a person answers."""
    ours, theirs = os.openpty()
    os.write(ours, answer)
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-P", "-m", "observer", *words]
    given: dict[str, Any] = {"stdin": theirs, "env": environ, "timeout": 60}
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True, **given)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.fixture
def fill(home: Home) -> Fill:
    """Store reports, as a daemon would that has ended since."""

    def store(reports: Sequence[dict[str, Any]]) -> None:
        spool = Spool(home.spool)
        spool.prepare()
        for report in reports:
            spool.append(
                {"client": "generic", "event": report["kind"]}, json.dumps(report).encode()
            )
        database = SqliteStore(home.database)
        pipeline = pipeline_over(database, spool, lambda: time.time_ns() // 1_000_000)
        while pipeline.drain().entries:
            pass
        database.close()

    return store


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, which is the current one."""
    folder = tmp_path / "app"
    put_file(folder / "pyproject.toml")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def filled(fill: Fill, app: Path) -> Home:
    """A memory of three things that happened in `app`."""
    here = {"cwd": str(app), "session": "s1", "client": "testbed"}
    fill(
        [
            {"kind": "prompt", "text": "make the login page faster", **here},
            {"kind": "command", "command": "make bench", "exit_code": 2, **here},
            {"kind": "file-write", "path": str(app / "login.py"), "content": "x = 1\n", **here},
        ]
    )
    return Home(app)
