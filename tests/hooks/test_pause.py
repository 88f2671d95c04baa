"""While recording is paused, or in a private session, hooks write nothing; they notice its end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import Envelope
from observer.core.paths import Home
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool

Post = Callable[..., None]
Posted = Callable[[], list[Envelope]]
Person = Callable[..., list[dict[str, str]]]

NOW_MS = int(time.time() * 1000)
HOUR_MS = 3_600_000
every_shell = pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])


def pause(spool: Spool, *scopes: str, until_ms: int = UNENDING_MS) -> None:
    spool.pauses.begin(scopes, from_ms=NOW_MS - 2 * HOUR_MS, until_ms=until_ms)


def files(home: Home) -> list[str]:
    kept = {"paused", "pauses"}
    return [file.name for file in home.root.rglob("*") if file.is_file() and file.name not in kept]


@pytest.mark.parametrize("until_ms", [UNENDING_MS, NOW_MS + HOUR_MS], ids=["for ever", "an hour"])
def test_nothing_is_written_while_paused_everywhere(
    post: Post, home: Home, spool: Spool, until_ms: int
) -> None:
    pause(spool, EVERYWHERE, until_ms=until_ms)
    post("claude-code", "Stop", payload=b"{}")
    assert files(home) == []


def test_a_pause_that_is_over_ends_without_a_daemon(
    post: Post, home: Home, spool: Spool, posted: Posted
) -> None:
    (home.spool).mkdir(parents=True)
    (home.spool / "paused").write_text(f"{NOW_MS // 1000 - 5} *\n")
    post("claude-code", "Stop")
    assert len(posted()) == 1


def test_only_what_happens_in_the_folder_is_left_out(
    post: Post, posted: Posted, spool: Spool, tmp_path: Path
) -> None:
    for name in ("a b", "a b/deep", "a b beside"):
        (tmp_path / name).mkdir()
    pause(spool, str(tmp_path / "a b"))
    for name in ("a b", "a b/deep", "a b beside"):
        where = tmp_path / name
        post("claude-code", "Stop", cwd=where, env={**os.environ, "PWD": str(where)})
    assert [one.cwd for one in posted()] == [str(tmp_path / "a b beside")]


@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"])
def test_the_folder_may_be_the_one_that_the_client_names(
    post: Post, posted: Posted, spool: Spool, tmp_path: Path, variable: str
) -> None:
    pause(spool, str(tmp_path))
    post("cursor", "stop", cwd="/", env={**os.environ, variable: str(tmp_path / "shop")})
    assert posted() == []


@pytest.mark.parametrize("text", ["", "x *\n", "* *\n", "99999999999\n", "99999999999 x\n", "\0"])
def test_a_file_that_no_pause_wrote_stops_nothing(
    post: Post, home: Home, posted: Posted, text: str
) -> None:
    home.spool.mkdir(parents=True)
    (home.spool / "paused").write_text(text)
    post("cursor", "stop")
    assert len(posted()) == 1


def test_a_pipe_in_its_place_is_not_waited_for(post: Post, home: Home, posted: Posted) -> None:
    home.spool.mkdir(parents=True)
    os.mkfifo(home.spool / "paused")
    post("cursor", "stop")
    assert len(posted()) == 1


@pytest.mark.parametrize(("value", "count"), [("1", 0), ("yes", 0), ("0", 1), ("", 1)])
def test_a_private_session_writes_nothing(
    post: Post, home: Home, posted: Posted, value: str, count: int
) -> None:
    post("claude-code", "Stop", payload=b"{}", env={**os.environ, "OBSERVER_PRIVATE": value})
    assert len(posted()) == count
    assert bool(files(home)) == bool(count)


def test_git_is_not_asked_anything_while_paused(
    post: Post, home: Home, spool: Spool, tmp_path: Path
) -> None:
    mark = tmp_path / "bin" / "git"
    mark.parent.mkdir()
    mark.write_text(f"#!/bin/sh\ntouch '{tmp_path}/asked'\n")
    mark.chmod(0o755)
    pause(spool, EVERYWHERE)
    path = f"{mark.parent}:{os.environ['PATH']}"
    post("git", "post-commit", env={**os.environ, "PATH": path})
    assert not (tmp_path / "asked").exists()
    assert files(home) == []


@every_shell
def test_a_shell_records_nothing_while_paused(
    person: Person, spool: Spool, home: Home, shell: str
) -> None:
    pause(spool, EVERYWHERE)
    resume = f"rm '{home.spool}/paused'"
    records = person(shell, "echo hidden", resume, "echo after")
    shown = str(records)
    assert "after" in shown
    assert "hidden" not in shown


@every_shell
def test_a_shell_records_nothing_in_a_paused_folder(
    person: Person, spool: Spool, tmp_path: Path, shell: str
) -> None:
    (tmp_path / "shop").mkdir()
    pause(spool, str(tmp_path / "shop"))
    into = f"cd {tmp_path}/shop"
    shown = str(person(shell, into, "echo hidden", "cd ..", "echo after"))
    assert "after" in shown
    assert "hidden" not in shown


@every_shell
def test_a_shell_notices_that_a_pause_is_over(person: Person, home: Home, shell: str) -> None:
    home.spool.mkdir(parents=True)
    (home.spool / "paused").write_text(f"{NOW_MS // 1000 - 5} *\nx *\n")
    assert "after" in str(person(shell, "echo after"))


@every_shell
def test_a_shell_is_private_from_one_line_to_another(person: Person, shell: str) -> None:
    on, off = "export OBSERVER_PRIVATE=1", "export OBSERVER_PRIVATE=0"
    shown = str(person(shell, "echo before", on, "echo hidden", off, "echo after"))
    assert "before" in shown
    assert "after" in shown
    assert "hidden" not in shown


def test_a_private_session_asks_for_no_reminder(hooks: Path, home: Home, tmp_path: Path) -> None:
    python = home.root / "run" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch '{tmp_path}/asked'\n")
    python.chmod(0o755)
    for value, is_asked in [("1", False), ("0", True)]:
        argv = ["sh", hooks / "recall", "claude-code", "UserPromptSubmit"]
        given = {**os.environ, "OBSERVER_PRIVATE": value, "OBSERVER_HOME": str(home.root)}
        subprocess.run(argv, input=b"{}", check=True, env=given)
        assert (tmp_path / "asked").exists() == is_asked
