"""A shell's history becomes commands, and nothing that it does not say is made up."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.events import Command, Event
from observer.importers.source import Problems
from observer.local.pauses import EVERYWHERE
from tests.importers.conftest import Memories, events_in

AT_S = 1_780_000_000
AT_MS = AT_S * 1000
HERE = os.uname().nodename


def said(events: list[Event]) -> list[tuple[int | None, str]]:
    """Return seconds since `AT_S` and the commands."""
    bodies = [(event, event.body) for event in events]
    return [
        (event.at_ms // 1000 - AT_S, body.command)
        for event, body in bodies
        if isinstance(body, Command)
    ]


@pytest.mark.parametrize(
    ("shell", "history", "expected"),
    [
        pytest.param(
            "bash", f"#{AT_S}\nls\n#{AT_S + 5}\nfor i in 1 2; do\n\n  echo $i\ndone\n",
            [(0, "ls"), (5, "for i in 1 2; do\n\n  echo $i\ndone")], id="bash with times",
        ),
        pytest.param(
            "bash", f"make\nls\nmake\n#{AT_S}\nls\n", [(0, "ls"), (99, "make"), (99, "ls")],
            id="bash, before there were times",
        ),
        pytest.param("bash", "#no time\n git x\nls", [(99, "#no time"), (99, "ls")], id="comment"),
        pytest.param(
            "zsh", f": {AT_S}:0;ls\n: {AT_S + 1}:7;echo a\\\nb\nmake\n",
            [(0, "ls"), (1, "echo a\nb"), (99, "make")], id="zsh extended and plain",
        ),
        pytest.param("zsh", f": {AT_S}:0;cut\\", [(0, "cut\\")], id="zsh cut off"),
        pytest.param(
            "fish", f"- cmd: echo a\\nb \\\\n\n  when: {AT_S}\n  paths:\n    - b\n- cmd: ls\n",
            [(0, "echo a\nb \\n"), (99, "ls")], id="fish",
        ),
    ],
)  # fmt: skip
def test_a_history_is_read(
    tmp_path: Path, shell: str, history: str, expected: list[tuple[int, str]]
) -> None:
    """What has no time gets that of the file, and is there once."""
    path = tmp_path / "history"
    path.write_text(history)
    os.utime(path, (AT_S + 99, AT_S + 99))
    events = events_in(shell, path)
    assert said(events) == expected
    for event in events:
        assert isinstance(event.body, Command)
        assert (event.cwd, event.session, event.author) == ("", "", "person")
        assert event.body.exit_code is event.body.failed is None


TRICKY = "echo 'größe ☂' \\\n  | wc\n\necho done"


@pytest.mark.parametrize(
    ("shell", "script"),
    [
        pytest.param(
            "bash",
            'HISTFILE=$1 HISTTIMEFORMAT=%s; set -o history; history -s "$2"; history -w',
            id="bash",
        ),
        pytest.param(
            "zsh",
            "setopt extended_history; HISTFILE=$1 HISTSIZE=9 SAVEHIST=9;"
            ' print -s -r -- "$2"; print -s x; fc -W',
            id="zsh",
        ),
    ],
)
def test_what_a_real_shell_writes_comes_back(tmp_path: Path, shell: str, script: str) -> None:
    if not (program := shutil.which(shell)):
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "history"
    start = [program, *(["--norc"] if shell == "bash" else ["-fi"]), "-c", script, shell]
    environ = {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [*start, str(path), TRICKY], check=True, timeout=60, env=environ, stdin=subprocess.DEVNULL
    )
    assert said(events_in(shell, path))[0][1] == TRICKY


def atuin(path: Path, *rows: tuple[object, ...]) -> Path:
    """Write a database as Atuin 18 has it."""
    columns = "timestamp, duration, exit, command, cwd, session, hostname, deleted_at"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE history (id TEXT PRIMARY KEY, {columns})")
        marks = ", ".join("?" * 8)
        many = [(str(number), *row) for number, row in enumerate(rows)]
        connection.executemany(f"INSERT INTO history VALUES (?, {marks})", many)
        connection.commit()
    return path


def test_atuin_knows_where_and_how_a_command_ended(tmp_path: Path) -> None:
    at, host = AT_MS * 1_000_000, f"{HERE}:ana"
    path = atuin(
        tmp_path / "history.db",
        (at, 2_500_000_000, 1, "make", str(tmp_path), "s1", host, None),
        (at, 0, 0, "ls", "/srv/app", "s2", "other:ana", None),
        (at, -1, -1, "old", "unknown", "s3", host, None),
        (at, 1, 0, "deleted", "/", "s1", host, at),
        (None, 1, 0, "when?", "/", "s1", host, None),
        (at, 1, 0, b"\xff\x00", "/", "s1", host, None),
    )
    problems = Problems()
    made, elsewhere, old, odd = events_in("atuin", path, problems=problems)
    assert made.body == Command(command="make", exit_code=1, failed=True, duration_ms=2500)
    assert (made.cwd, made.session, made.at_ms) == (str(tmp_path), "s1", AT_MS)
    assert (elsewhere.cwd, elsewhere.session, elsewhere.host) == ("", "s2", "other")
    assert (old.body, old.session) == (Command(command="old"), "")
    assert odd.at_ms == AT_MS
    assert problems.counts == {"command without a time": 1}


def test_a_command_in_two_histories_is_one(memory: Memories, tmp_path: Path) -> None:
    """Of Atuin, which comes first, and of the shell; importing again adds nothing."""
    filled = memory("typed")
    row = (AT_MS * 1_000_000, 9_000_000, 2, "make lint", str(tmp_path), "s1", f"{HERE}:ana", None)
    database = atuin(tmp_path / "history.db", row)
    history = tmp_path / "history"
    history.write_text(f": {AT_S}:0;make lint\n: {AT_S + 60}:0;make lint\nls -l\n")
    for _ in range(2):
        filled.imported(database, source="atuin")
        filled.imported(history, source="zsh")
    with filled.store.read() as reader:
        log = [(one.event.client, one.event.body) for one in reader.log()]
    commands = [(client, body.command) for client, body in log if isinstance(body, Command)]
    assert commands == [("atuin", "make lint"), ("zsh", "make lint"), ("zsh", "ls -l")]


def test_what_the_shells_hook_reported_is_known(memory: Memories, tmp_path: Path) -> None:
    """The hook reports the end of a command, the history its begin."""
    filled = memory("live")
    fields = {"client": "zsh", "event": "command", "cwd": str(tmp_path), "ppid": "7"}
    for second, ms in ((40, 30_000), (70, 500)):
        record = f"exit=1\0duration_ms={ms}\0cwd={tmp_path}\0text=make all\0."
        at = str(AT_MS + 1000 * second)
        filled.spool.append({**fields, "at": at}, record.encode())
    filled.live()
    history = tmp_path / "history"
    stamped = [(10, "make all"), (12, "make"), (69, "make all"), (200, "make all")]
    history.write_text("".join(f": {AT_S + second}:0;{text}\n" for second, text in stamped))
    receipts = filled.imported(history, source="zsh")
    assert [bool(one.known) for one in receipts] == [True, False, True, False]


def test_what_was_typed_in_a_pause_stays_out(memory: Memories, tmp_path: Path) -> None:
    filled = memory("paused")
    filled.spool.pauses.begin([EVERYWHERE], from_ms=AT_MS, until_ms=AT_MS + 60_000)
    history = tmp_path / "history"
    history.write_text(f"#{AT_S - 1}\nls\n#{AT_S + 1}\nls private\n")
    receipts = filled.imported(history, source="bash")
    assert [one.seq is not None for one in receipts] == [True, False]
