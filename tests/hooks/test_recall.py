"""The hook that interrupts: real scripts, a real daemon, and daemons that misbehave."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.spool import Spool
from observer.serve.servers import make_run_folder
from tests.support import ended, put_file

from .conftest import HOOKS

ERROR = "Exit code 2\nerror: unrecognized subcommand 'bun'"
PATIENCE_S = 5.0
"""Far more than the hook may take, far less than it would wait for a client that hangs."""

Recall = Callable[..., "subprocess.CompletedProcess[bytes]"]
Answered = Callable[..., bytes]


@pytest.fixture
def folder(tmp_path: Path, git: Callable[..., str]) -> Path:
    made = tmp_path / "shop"
    git(made, "init", "-q")
    return made


def recall_of(sh: list[str], folder: Path) -> Recall:
    """Return what runs `hooks/recall`; whatever happens, it succeeds and complains of nothing."""

    def run(*arguments: str, payload: object = None, **options: Any) -> Any:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if "stdin" not in options:
            options["input"] = data
        argv = [*sh, options.pop("script", HOOKS / "recall"), *arguments]
        done = ended(argv, cwd=folder, text=False, timeout=PATIENCE_S, **options)
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    return run


@pytest.fixture
def recall(sh: list[str], folder: Path) -> Recall:
    return recall_of(sh, folder)


@pytest.fixture
def recalls(shells: dict[str, list[str]], folder: Path) -> dict[str, Recall]:
    """`hooks/recall` in each shell, by the session that asks there."""
    return {f"in-{name}": recall_of(argv, folder) for name, argv in shells.items()}


@pytest.fixture
def answered(until: Any) -> Answered:
    """Ask until there is an answer: on a busy machine one may come too late to be printed."""

    def ask(recall: Recall, *arguments: str, payload: object) -> bytes:
        shown: list[bytes] = []
        until(
            lambda: shown.append(recall(*arguments, payload=payload).stdout) or shown[-1],
            wait_s=60,  # the hook itself waits 150 ms for an answer, which a busy machine exceeds
        )
        return shown[-1]

    return ask


def failure(session: str) -> dict[str, object]:
    return {**coming(session), "hook_event_name": "PostToolUseFailure", "error": ERROR}


def coming(session: str) -> dict[str, object]:
    return {
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "wrap bun run test 2>&1"},
        "tool_use_id": f"toolu_{session}",
    }


@pytest.fixture
def learned(folder: Path, home: Home, within: Any, until: Any) -> None:
    """A memory of a form of a command that could not run, and of the one that did."""
    happened: list[tuple[str, dict[str, object]]] = [
        ("UserPromptSubmit", {"prompt": "mend the total"}),
        ("PostToolUseFailure", failure("s1")),
        (
            "PostToolUse",
            {
                "tool_name": "Bash",
                "tool_input": {"command": "bun run test"},
                "tool_use_id": "toolu_3",
                "tool_response": {"stdout": " 3 pass\n 0 fail", "stderr": ""},
            },
        ),
    ]
    within("up")
    for event, fields in happened:
        said = json.dumps({"session_id": "s1", "cwd": str(folder), **fields})
        ended([HOOKS / "post", "claude-code", event], cwd=folder, input=said, check=True)
        time.sleep(0.002)  # each has its own millisecond, as events of people do
    until(lambda: Spool(home.spool).depth() == 0)
    until(lambda: client.call(home, "GET", "/status")["items"] >= 1)


def shown(answer: bytes, event: str) -> str:
    output = json.loads(answer)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    assert output["hookEventName"] == event
    return str(output["additionalContext"])


@pytest.mark.slow
@pytest.mark.usefixtures("learned")
def test_before_a_form_that_cannot_run_and_after_it_failed_the_one_that_works_is_shown_once(
    recalls: dict[str, Recall], answered: Answered, home: Home
) -> None:
    asked = [home.run / "python3", "-IS", "-c", "print(1)"]  # the interpreter that is lent
    assert subprocess.run(asked, capture_output=True, check=True).stdout == b"1\n"
    for session, recall in recalls.items():
        another = {**coming(session), "tool_input": {"command": "bun run test"}}
        assert recall("claude-code", "PreToolUse", payload=another).stdout == b""
        answer = answered(recall, "claude-code", "PreToolUse", payload=coming(session))
        text = shown(answer, "PreToolUse")
        assert "`bun run test` works here; `wrap bun run test` could not run" in text
        later = f"{session}-2"
        answer = answered(recall, "claude-code", "PostToolUseFailure", payload=failure(later))
        assert "`bun run test` works here" in shown(answer, "PostToolUseFailure")
        assert recall("claude-code", "PreToolUse", payload=coming(later)).stdout == b""


@pytest.mark.slow
@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("is_off", [False, True], ids=["inside Cursor", "turned off"])
def test_it_is_silent_where_the_hook_of_cursor_speaks_and_where_it_is_turned_off(
    recalls: dict[str, Recall], within: Any, *, is_off: bool
) -> None:
    hooks_json = Path(os.environ["HOME"]) / ".cursor" / "hooks.json"
    put_file(hooks_json, '{"command": "/home/ana/.observer/hooks/recall cursor x"}')
    if is_off:
        for words in (("config", "set", "recall_hooks", "false"), ("down",), ("up",)):
            within(*words)
    inside = os.environ | ({} if is_off else {"CURSOR_VERSION": "3.20"})
    for session, recall in recalls.items():
        asked = failure(session)
        assert recall("claude-code", "PostToolUseFailure", payload=asked, env=inside).stdout == b""


def test_without_a_daemon_or_arguments_it_is_silent(recall: Recall) -> None:
    for words in ("", "PreToolUse", "PostToolUse", "PostToolUseFailure"):
        assert recall("claude-code", *words.split(), payload=failure("s2")).stdout == b""
    assert recall(payload=failure("s2")).stdout == b""


@contextmanager
def listening(home: Home, answer: bytes | None) -> Iterator[None]:
    """A daemon that answers so, or never."""
    home.root.mkdir(parents=True, exist_ok=True)
    make_run_folder(home)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(home.socket))
        door.listen()
        done = threading.Event()

        door.settimeout(0.02)

        def serve() -> None:
            while not done.is_set():
                with suppress(OSError):  # nobody came, or nobody stayed
                    connection, _ = door.accept()
                    with connection:
                        if answer is None:
                            done.wait(PATIENCE_S)
                        connection.settimeout(PATIENCE_S)
                        connection.recv(1 << 16)
                        connection.sendall(answer or b"")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n{half",
        b"HTTP/1.1 200 OK\r\n\r\nunmeasured",
        b"HTTP/1.1 500 Oops\r\ncontent-length: 5\r\n\r\nsorry",
        b"no http at all",
    ],
    ids=["never", "nothing", "half", "unmeasured", "failed", "foreign"],
)
def test_only_a_whole_answer_is_printed(recall: Recall, home: Home, answer: bytes | None) -> None:
    """A daemon that hangs keeps nobody."""
    with listening(home, answer):
        assert recall("claude-code", "PostToolUseFailure", payload=failure("s2")).stdout == b""


def test_a_whole_answer_is_printed(recall: Recall, answered: Answered, home: Home) -> None:
    with listening(home, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nknown"):
        assert answered(recall, "claude-code", "PostToolUseFailure", payload={}) == b"known"
        giant = b"x" * (2 << 20)
        assert recall("claude-code", "UserPromptSubmit", payload=giant).stdout == b""


def test_a_client_that_never_closes_keeps_nobody(recall: Recall) -> None:
    reading, writing = os.pipe()
    try:
        assert recall("claude-code", "UserPromptSubmit", stdin=reading).stdout == b""
    finally:
        os.close(reading)
        os.close(writing)


def test_the_daemons_interpreter_comes_first(recall: Recall, home: Home, tmp_path: Path) -> None:
    home.root.mkdir()
    lent = make_run_folder(home) / "python3"
    put_file(lent, f'#!/bin/sh\necho "$@" >"{tmp_path}/asked"\n')
    recall("claude-code", "UserPromptSubmit", payload={})
    asked = (tmp_path / "asked").read_text().split()
    assert (asked[0], asked[2:]) == ("-IS", ["claude-code", "UserPromptSubmit"])
    lent.write_text("#!/bin/sh\nexit 2\n")  # by which a client denies the call that it would make
    assert recall("claude-code", "PreToolUse", payload=coming("s2")).stdout == b""
