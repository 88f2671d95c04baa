"""The watch in a real daemon: real files, real git, real hooks' envelopes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.local import client
from tests.serve.services import bodies, report, status
from tests.support import Git, Until

pytestmark = pytest.mark.slow(waits=True)


@pytest.fixture
def watched(home: Home, app: Path, until: Until) -> Path:
    """The repository, watched by a daemon."""
    client.ensure_daemon(home)
    report(home, app, "prompt", text="go")
    until(lambda: [one["root"] for one in status(home)["watched"]] == [str(app)])
    return app


def _shown(home: Home) -> list[dict[str, Any]]:
    return bodies(home, of="watch")


def _paths(home: Home) -> list[str]:
    return [Path(body["path"]).name for body in _shown(home) if body["kind"] == "file-write"]


def test_a_save_of_another_editor_is_shown_with_its_change(
    home: Home, watched: Path, until: Until
) -> None:
    """As vim does it: a probe, a backup, a new file in place of the old one."""
    (watched / "4913").touch()
    (watched / "4913").unlink()
    (watched / "a.py").rename(watched / "a.py~")
    (watched / "a.py").write_text("def run():\n    return AKIA + 1\n".replace("AKIA", _secret()))
    (watched / "a.py~").unlink()
    (watched / "x.log").write_text("noise")
    (watched / "new").mkdir()
    (watched / "new" / "d.py").write_text("D = 1\n")
    until(lambda: len(_shown(home)) == 2)
    edit, created = sorted(_shown(home), key=lambda body: body["path"])
    assert (created["operation"], created["content"]) == ("create", "D = 1\n")
    assert edit["edits"][0]["old"] == "def run():\n    return 1\n"
    assert 'return "[redacted:' in edit["edits"][0]["new"]


def _secret() -> str:
    return '"AKIA' + 'Q3EGRIHJ7KXW2M4T"'


def test_what_hooks_shown_is_not_shown_again_and_what_they_tell_late_is_taken_back(
    home: Home, watched: Path, until: Until
) -> None:
    report(home, watched, "file-write", path=watched / "a.py")
    for name in ("a.py", "b.py", "c.py"):
        (watched / name).write_text("def run():\n    return 2\n")
    report(home, watched, "file-write", path=watched / "b.py")
    until(lambda: _paths(home) == ["c.py"])
    at_ms = int((watched / "c.py").stat().st_mtime * 1000)
    report(home, watched, "file-write", path=watched / "c.py", at=at_ms)
    until(lambda: any(body["kind"] == "forget" for body in _shown(home)))


def test_a_switch_of_branches_is_silent_in_the_daemon_too(
    home: Home, watched: Path, git: Git, until: Until
) -> None:
    git(watched, "checkout", "-q", "-b", "other")
    for number in range(300):
        (watched / f"f{number}.py").write_text("x\n")
    git(watched, "add", ".")
    git(watched, "commit", "-qm", "Many")
    git(watched, "checkout", "-q", "main")
    git(watched, "checkout", "-q", "other")
    git(watched, "checkout", "-q", "main")
    (watched / "a.py").write_text("def run():\n    return 2\n")
    until(lambda: _shown(home))
    assert _paths(home) == ["a.py"]


def test_many_files_at_once_are_one_event(home: Home, watched: Path, until: Until) -> None:
    (watched / "gen").mkdir()
    for number in range(40):
        (watched / "gen" / f"f{number}.py").write_text("x\n")
    until(lambda: _shown(home))
    (said,) = _shown(home)
    assert said["text"] == "40 files changed at once: 40 in gen"


def test_a_name_that_is_no_text_blinds_for_a_moment_only(
    home: Home, watched: Path, until: Until
) -> None:
    (watched / os.fsdecode(b"\xff.txt")).touch()
    (watched / "a.py").write_text("def run():\n    return 2\n")
    until(lambda: _paths(home) == ["a.py"])


def test_a_project_that_moved_is_no_longer_watched_where_it_was(
    home: Home, watched: Path, until: Until
) -> None:
    watched.rename(watched.with_name("moved"))
    until(lambda: status(home)["watched"] == [])


def test_what_waits_is_shown_when_the_daemon_leaves(home: Home, watched: Path) -> None:
    (watched / "a.py").write_text("def run():\n    return 2\n")
    client.stop(home)
    assert _paths(home) == ["a.py"]
