"""`observer log`: what the daemon says, at the times of whoever reads it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]
LINE = "2026-11-28T23:30:01.250Z INFO observer.serve.daemon: up"


@pytest.fixture(autouse=True)
def logged(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    home.logs.mkdir(parents=True)
    (home.logs / "daemon.log").write_text(f"{LINE}\n  a line of a traceback\n")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_times_are_those_of_the_reader(run: Run) -> None:
    shown = run("log").out.splitlines()
    assert shown == [
        "2026-11-29 08:30:01 INFO observer.serve.daemon: up",
        "  a line of a traceback",
    ]


def test_times_are_in_utc_where_that_is_asked_for(run: Run) -> None:
    assert run("log", "--utc").out.splitlines()[0] == LINE
    assert LINE in run("log", "--json").out
