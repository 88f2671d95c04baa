"""What commands do with a real daemon behind them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.cli import main
from observer.core.config import Settings
from observer.core.paths import Home
from observer.index.embed.registry import find
from observer.local import client
from observer.store.database import SqliteStore
from tests.serve.services import status
from tests.support import Git, Observer, Until

pytestmark = pytest.mark.slow


@pytest.fixture
def app(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits, which is the current folder.

    They are old enough that their scores do not change while a test lasts.
    """
    folder = tmp_path / "app"
    git(folder, "init")
    for number in (1, 2):
        (folder / "a.py").write_text(f"x = {number}\n")
        git(folder, "add", "a.py")
        then = f"2020-01-0{number}T12:00:00Z"
        git(folder, "commit", "-m", f"Step {number}", GIT_AUTHOR_DATE=then, GIT_COMMITTER_DATE=then)
    monkeypatch.chdir(folder)
    return folder


ANSWERED = (
    ("search", "Step"),
    ("search", "Step", "--json", "--file", "a.py"),
    ("search", "Step", "--explain"),
    ("search", "yesterday", "--since", "nonsense"),
    ("timeline", "4"),
    ("show", "4", "8", "nosuch"),
    ("show", "4", "--json"),
    ("why", "a.py"),
    ("why", "nosuch.py", "--json"),
    ("context", "--explain"),
    ("search", "--notes", "Step"),
    ("search", "Step", "--project", "nosuch"),
    ("sessions",),
    ("today",),
    ("today", "--days", "7", "--all", "--json"),
    ("show",),
    ("status", "--projects", "--json"),
)
IMPORTED = """
import sys
from observer.cli import main
try:
    main(sys.argv[1:])
finally:
    print("numpy" in sys.modules, file=sys.stderr)
"""


def _read(*words: str, **env: str) -> tuple[int, str, str, bool]:
    """Return exit code, output and errors of a command, and whether it read the index itself."""
    command = [sys.executable, "-c", IMPORTED, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | env, timeout=60
    )
    errors, _, last = done.stderr.rstrip("\n").rpartition("\n")
    return done.returncode, done.stdout, errors, last == "True"


def _lengths(home: Home) -> set[int]:
    """Return how long the vectors of both commits are: the second model completes them."""
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        return {len(vector) for vector in reader.vectors_of([4, 8]).values()}


def test_an_answer_is_the_same_from_the_daemon_and_without_it(
    observer: Observer, app: Path, home: Home, until: Until, capfd: pytest.CaptureFixture[str]
) -> None:
    assert observer("import", "git").returncode == 0
    until(lambda: "stale" in observer("show", "4").stdout)  # both commits are followed by then
    whole = find(Settings().model, home.models).dimensions
    until(lambda: _lengths(home) == {whole})
    shown = [_read(*words) for words in ANSWERED]
    assert not any(is_read_here for *_, is_read_here in shown)
    assert observer("down").returncode == 0
    for words, answer in zip(ANSWERED, shown, strict=True):
        with pytest.raises(SystemExit) as ended:  # in this process, which has imported numpy
            main(words)
        out, err = capfd.readouterr()
        assert (int(ended.value.code or 0), out, err.rstrip("\n")) == answer[:3], words


def test_who_asks_with_other_settings_than_the_daemons_reads_by_itself(
    home: Home, within: Observer, app: Path
) -> None:
    assert within("import", "git").returncode == 0
    for variable in ("TZ", "OBSERVER_OWNER"):
        code, *_, is_read_here = _read("search", "Step", **{variable: "Asia/Kolkata"})
        assert (code, is_read_here) == (0, True), variable
    assert not _read("search", "Step")[3]
    home.config.write_text('owner = "ben"')
    assert _read("search", "Step")[3], "a setting that changed since the daemon began"


def _json(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_post_with_wait_returns_after_the_commit_and_names_what_was_known(
    home: Home, within: Observer
) -> None:
    event = ("post", "custom", "name=deploy", "id=7", "--wait")
    (first,) = _json(within(*event, "--json"))
    assert first["stored"]
    assert status(home)["events"] == 1
    assert _json(within(*event, "--json")) == [{"id": first["id"], "stored": False}]
    assert within(*event).stdout == "stored 0 events, 1 known already\n"


def speaks_of_redis(file: Path) -> bool:
    return file.exists() and "Redis" in file.read_text()


def test_a_note_comes_to_the_files_of_its_project_one_of_none_to_all_and_goes(
    home: Home, app: Path, tmp_path: Path, within: Observer, until: Until
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (app, other):
        _json(within("post", "custom", "name=deploy", f"cwd={folder}", "--wait", "--json"))
    files = [home.context / "by-path" / str(at).lstrip("/") / "CONTEXT.md" for at in (app, other)]
    for scope in ("team", "personal"):
        kept = _json(within("remember", "Tests need Redis", "--scope", scope, "--json"))
        until(lambda: all(map(speaks_of_redis, files)))
        within("forget", str(kept["id"]), "--yes")
        until(lambda: not any(map(speaks_of_redis, files)))
    _json(within("remember", "Tests need Redis", "--type", "constraint", "--json"))
    until(lambda: [*map(speaks_of_redis, files)] == [True, False])


def test_importing_twice_stores_nothing_twice(app: Path, within: Observer) -> None:
    assert _json(within("import", "git", "--json"))["stored"] == 2
    assert _json(within("import", "git", "--json"))["stored"] == 0
    assert within("import", "git", str(app.parent)).returncode == 3  # without history
    found = _json(within("search", "step", "--json"))["observations"]
    assert sorted(hit["title"] for hit in found) == ["Step 1", "Step 2"]


def test_what_is_left_out_is_not_called_known(app: Path, within: Observer) -> None:
    _json(within("config", "set", "exclude", str(app), "--json"))
    shown = within("post", "custom", "name=deploy", "--wait").stdout
    assert shown == "stored 0 events, 1 of excluded folders left out\n"
    said = within("import", "git").stdout
    assert said == "0 commits stored, 0 known already, 2 excluded or paused\n"


def test_a_rebuild_derives_the_same_items(home: Home, app: Path, within: Observer) -> None:
    _json(within("import", "git", "--json"))
    before = within("export").stdout
    for is_up in (True, False):
        if not is_up:
            client.stop(home)
        assert _json(within("doctor", "--rebuild", "--json")) == {"events": 2, "redacted": 0}
        assert within("export").stdout == before
        assert client.is_running(home) is is_up


def test_doctor_names_a_known_repository_whose_hooks_were_put_out_of_use(
    home: Home, app: Path, within: Observer, monkeypatch: pytest.MonkeyPatch
) -> None:
    within("import", "git")
    assert _json(within("doctor", "--json"))["is_well"]
    monkeypatch.chdir(home.root)
    hook = app / ".git" / "hooks" / "post-commit.old"
    hook.write_text(f"#!/bin/sh\n# observer's hook: post-commit.\npost={home.hooks}/post\n")
    checks = json.loads(within("doctor", "--json").stdout)["checks"]
    (found,) = [check["found"] for check in checks if check["name"] == "git hooks"]
    assert str(app) in found
