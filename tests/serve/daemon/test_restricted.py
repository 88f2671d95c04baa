"""What the watch of a real daemon does not tell: by policy, while paused, of a private session."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.pauses import UNENDING_MS
from observer.local.spool import Spool
from tests.serve.services import bodies, report, status
from tests.support import Until

pytestmark = pytest.mark.slow(waits=True)


NEW = "def run():\n    return 2\n"


def watch(home: Home, app: Path, until: Until) -> None:
    client.ensure_daemon(home)
    report(home, app, "prompt", text="go")
    until(lambda: status(home)["watched"])


def names(home: Home) -> list[str]:
    """Return the files that were written, whoever said so."""
    return [Path(one["path"]).name for one in bodies(home) if one["kind"] == "file-write"]


@pytest.mark.parametrize("why", ["excluded", "as the pause ended", "of a private session"])
def test_a_save_that_is_not_to_be_known_is_not_shown(
    home: Home, app: Path, until: Until, why: str
) -> None:
    if why == "excluded":
        (app / ".observer.toml").write_text('exclude = ["a.py"]')
    watch(home, app, until)
    pauses, paused = Spool(home.spool).pauses, why == "as the pause ended"
    if paused:
        pauses.begin([str(app)], from_ms=int(time.time() * 1000), until_ms=UNENDING_MS)
    if why == "of a private session":
        pauses.begin(["session=hidden"], from_ms=0, until_ms=UNENDING_MS)
        report(home, app, "file-write", "hidden", path=app / "a.py")
    (app / "a.py").write_text(NEW)
    if paused:  # it still waits
        pauses.end(None, now_ms=int(time.time() * 1000) + 1)
        until(lambda: time.time_ns() // 1_000_000 > pauses.all()[0].until_ms)
    (app / "b.py").write_text(NEW)
    until(lambda: names(home))
    assert names(home) == ["b.py"]


def test_what_is_saved_during_a_pause_is_shown_neither_then_nor_afterwards(
    home: Home, app: Path, until: Until
) -> None:
    watch(home, app, until)
    pauses = Spool(home.spool).pauses
    pauses.begin([str(app)], from_ms=int(time.time() * 1000), until_ms=UNENDING_MS)
    (app / "a.py").write_text("HIDDEN = 1\n")
    client.stop(home)  # tells at once what there is to tell
    pauses.end(None, now_ms=int(time.time() * 1000))
    watch(home, app, until)
    (app / "b.py").write_text(NEW)
    until(lambda: names(home))
    assert names(home) == ["b.py"]


def test_the_context_of_the_next_session_says_that_recording_is_paused(
    home: Home, app: Path, until: Until
) -> None:
    def printed() -> str:
        file = home.context / "by-path" / str(app)[1:] / "CONTEXT.md"
        return file.read_text() if file.exists() else ""

    watch(home, app, until)
    report(home, app, "command", command="make", exit_code=2, output="error: no rule")
    until(printed)
    pauses = Spool(home.spool).pauses
    pauses.begin([str(app)], from_ms=0, until_ms=4_000_000_000_000)
    said = f"(recording is paused in {app} until 2096-10-02 07:06Z)"
    until(lambda: said in printed())
    pauses.end(None, now_ms=int(time.time() * 1000))
    until(lambda: said not in printed())
