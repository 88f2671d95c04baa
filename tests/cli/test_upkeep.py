"""Upkeep of the whole memory, as a person at a terminal sees it."""

from __future__ import annotations

import json
import lzma
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import Undecodable
from observer.core.paths import Home
from observer.ingest.decode import decode
from observer.local.spool import Spool

Run = Callable[..., Any]


def _on_a_terminal(*words: str) -> tuple[str, str]:
    """Return what a command prints into a pipe, and what its user sees of it besides."""
    ours, theirs = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-m", "observer", *words],
        check=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
    )
    seen = os.read(ours, 100_000)
    os.close(ours)
    os.close(theirs)
    return ran.stdout.decode(), seen.decode()


def test_a_rebuild_shows_how_far_it_has_come(filled: Home) -> None:
    printed, seen = _on_a_terminal("doctor", "--rebuild")
    assert printed == "rebuilt from 3 events\n"
    assert "rebuilding" in seen
    assert "3/3" in seen


def test_what_was_not_understood_is_read_again(run: Run, home: Home) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    spool.append({"client": "testbed", "event": "none"})
    (entry,) = spool.claim(at_most=5)
    spool.quarantine(entry, reason="no such client", kept=entry.data)
    fixed = run("doctor", "--quick", "--fix", "--json").json["fixed"]
    assert "put 1 event back into the queue, to be read again" in fixed
    assert (spool.depth(), spool.bad()) == (1, 0)


@pytest.mark.measured
def test_events_of_an_unknown_client_are_kept_and_named(run: Run, home: Home) -> None:
    spool = Spool(home.spool)
    spool.prepare()
    for client in ("gloop", "gloop"):
        spool.append({"client": client, "event": "none"})
    for entry in spool.claim(at_most=5):
        with pytest.raises(Undecodable) as raised:
            decode(entry.id, entry.data, entry.at_ms, cap_bytes=1000)
        spool.quarantine(entry, reason=str(raised.value), kept=entry.data)
    assert "kept unread  2 events of gloop, which observer does not know yet" in run("status").out
    assert json.loads(run("status", "--json").out)["unknown_clients"] == {"gloop": 2}
    (line,) = [row for row in run("doctor").out.splitlines() if row.split()[1:2] == ["spool"]]
    assert "gloop" in line
    assert "delete" not in run("doctor").out.partition(line)[2].partition("\n")[0]


def test_a_rebuild_shows_no_progress_to_a_script(run: Run, filled: Home) -> None:
    ran = run("doctor", "--rebuild")
    assert (ran.out, ran.err) == ("rebuilt from 3 events\n", "")


def test_a_rebuild_loses_nothing_that_an_older_observer_stored(run: Run, home: Home) -> None:
    packed = Path(__file__).parents[1] / "data/homes/v08-c73f2e50.db.xz"
    home.root.mkdir(parents=True)
    home.database.write_bytes(lzma.decompress(packed.read_bytes()))
    assert "stored       5 events" in run("status").out
    ran = run("doctor", "--rebuild")
    assert (ran.code, ran.out) == (0, "rebuilt from 5 events\n")
    assert "rounded once" in run("search", "rounded").out
