"""`observer import` of the sessions of all clients, broken off and begun again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.paths import Home
from observer.importers.jsonl import Problems
from observer.importers.registry import sources
from observer.importers.source import events_of
from tests.cli.conftest import Run
from tests.importers.recorded import SAMPLES, keep


def stored(home: Home) -> list[str]:
    """Return the ids of all stored events; none without a database."""
    if not home.database.exists():
        return []
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as database:
        try:
            return [row[0] for row in database.execute("SELECT id FROM event")]
        except sqlite3.OperationalError:  # it is just being made
            return []


@pytest.mark.slow
def test_a_killed_import_of_all_clients_goes_on(
    run: Run, home: Home, until: Callable[..., None]
) -> None:
    expected = []
    for client in SAMPLES:
        folder, source = keep(client, Path(os.environ["HOME"])), sources()[client]
        found = source.find([folder], Problems())
        expected += events_of(source, found, Settings(), Problems())
    with subprocess.Popen(
        [sys.executable, "-m", "observer", "import", "--yes"], stdout=subprocess.DEVNULL
    ) as process:
        until(lambda: stored(home), wait_s=60.0)
        process.send_signal(signal.SIGKILL)
    assert run("import", "--yes").code == 0
    assert sorted(stored(home)) == sorted(event.id for event in expected)
    assert run("import", "--yes").out.endswith("nothing new to import\n")
