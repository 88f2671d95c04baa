from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from observer import __version__
from observer.core.paths import Home
from observer.local.pump import VALUE_CHARS, KeptAnswers, Pump
from tests.support import Until

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
TALL = "x" * (1 << 20)


@pytest.mark.parametrize("is_named", [False, True])
def test_the_first_line_says_who_asks_and_from_where(
    far_end: Any,
    editor: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_named: bool,
) -> None:
    """The folder that Claude Code names wins; variables that toolsets heed are passed on."""
    daemon = far_end()
    shown = {"observer": 1, "version": __version__, "cwd": str(tmp_path), "tools": "core"}
    if is_named:
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/home/ana/app")
        monkeypatch.setenv("BASIC_MEMORY_MCP_PROJECT", 'a "vault"')
        monkeypatch.setenv("BASIC_MEMORY_DEFAULT_PROJECT", "x" * (VALUE_CHARS + 1))
        monkeypatch.setenv("BASIC_MEMORY_TOKEN", "hush")
        shown |= {"cwd": "/home/ana/app", "variables": ['BASIC_MEMORY_MCP_PROJECT=a "vault"']}
    pump = editor("--tools", "core", cwd=tmp_path)
    pump.ask(1)
    assert pump.hear() == {"jsonrpc": "2.0", "id": 1, "result": {"method": "tools/list"}}
    assert json.loads(daemon.heard[0]) == shown
    assert pump.leave() == 0


@pytest.mark.parametrize("name", ['a "b" \\c', "naïve 日本", "line\nfeed", os.fsdecode(b"\xff")])
def test_any_folder_makes_a_hello(far_end: Any, editor: Any, tmp_path: Path, name: str) -> None:
    daemon = far_end()
    folder = tmp_path / name
    folder.mkdir()
    pump = editor(cwd=folder)
    pump.ask(1)
    pump.hear()
    shown = os.fsencode(str(folder)).decode(errors="replace")
    assert json.loads(daemon.heard[0])["cwd"] == shown


def test_large_lines_pass_both_ways_and_one_without_end_is_refused(
    far_end: Any, editor: Any
) -> None:
    daemon = far_end()
    pump = editor()
    tall = json.dumps({"jsonrpc": "2.0", "id": 1, "method": TALL}).encode() + b"\n"
    pump.process.stdin.write(tall)
    pump.process.stdin.flush()
    assert pump.hear()["result"]["method"] == TALL
    for _ in range(20):
        pump.process.stdin.write(TALL.encode())
    pump.process.stdin.write(b"\n")
    pump.process.stdin.flush()
    assert "dropped" in pump.hear()["error"]["message"]
    pump.ask(2)
    assert pump.hear()["id"] == 2
    assert [message["id"] for message in daemon.requests()] == [1, 2]


def test_an_editor_that_leaves_at_once_still_gets_its_answers(far_end: Any) -> None:
    far_end()
    asked = b'{"jsonrpc":"2.0","id":1,"method":"a"}\n{"jsonrpc":"2.0","id":2,"method":"b"}'
    command = [sys.executable, "-m", "observer", "mcp"]
    run = subprocess.run(command, input=asked, capture_output=True, timeout=10, check=True)
    assert [json.loads(line)["id"] for line in run.stdout.splitlines()] == [1, 2]


def test_a_long_home_is_found_through_its_link(
    editor: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, far_end: Any
) -> None:
    root = tmp_path / ("long" * 30)
    root.mkdir()
    monkeypatch.setenv("OBSERVER_HOME", str(root))
    home = Home(root)
    assert home.run != root / "run"
    from_end = far_end(home=home)
    pump = editor()
    pump.ask(1)
    assert pump.hear()["id"] == 1
    from_end.close()
    home.mcp_socket.unlink()
    home.run.rmdir()


# --- a daemon that goes away ---------------------------------------------------------------------


def shake_hands(pump: Any) -> None:
    pump.ask(0, "initialize")
    pump.hear()
    pump.say(INITIALIZED)


def test_a_new_daemon_hears_the_handshake_and_the_editor_hears_nothing_of_it(
    far_end: Any, editor: Any, until: Until
) -> None:
    first = far_end()
    pump = editor()
    shake_hands(pump)
    until(lambda: len(first.requests()) == 2)
    first.close()
    second = far_end()
    pump.ask(1)
    assert pump.hear()["id"] == 1
    methods = [message["method"] for message in second.requests()]
    assert methods == ["initialize", "notifications/initialized", "tools/list"]


@pytest.mark.parametrize("begun", [b"", b'{"jsonrpc":"2.0","id":"q","res'], ids=["none", "half"])
def test_a_request_without_a_whole_answer_is_sent_to_the_new_daemon(
    far_end: Any, editor: Any, until: Until, begun: bytes
) -> None:
    first = far_end(lambda _: begun)
    pump = editor()
    pump.ask("q", "slow")
    until(first.requests)
    second = far_end()
    first.hang_up()
    assert pump.hear() == {"jsonrpc": "2.0", "id": "q", "result": {"method": "slow"}}
    assert len(second.requests()) == 1


def test_a_daemon_that_hangs_up_in_mid_session_is_asked_again(far_end: Any, editor: Any) -> None:
    deaths = [b"kill"]
    daemon = far_end()
    answered = daemon.reply

    def reply(line: bytes) -> bytes | None:
        return None if deaths and deaths[0] in line and deaths.pop() else answered(line)

    daemon.reply = reply
    pump = editor()
    shake_hands(pump)
    pump.ask(1, "kill")
    assert pump.hear()["id"] == 1


def test_a_request_that_kills_every_daemon_is_answered_with_an_error(
    far_end: Any, editor: Any
) -> None:
    daemon = far_end(lambda _: None)
    pump = editor()
    pump.ask(1)
    assert "went away" in pump.hear()["error"]["message"]
    assert len(daemon.requests()) == 6


def test_an_idle_pump_does_not_look_for_a_new_daemon(
    far_end: Any, editor: Any, home: Home, until: Until
) -> None:
    daemon = far_end()
    pump = editor()
    shake_hands(pump)
    until(lambda: len(daemon.requests()) == 2)
    daemon.close()
    assert pump.leave() == 0
    assert not home.lock.exists()


@pytest.mark.parametrize(
    ("greeting", "code", "complaint"),
    [
        (b'{"error":"speaks protocol 2"}\n', 4, "error: speaks protocol 2\n"),
        (b'{"error":"no toolset\\nhint: x","exit_code":2}\n', 2, "error: no toolset\nhint: x\n"),
    ],
    ids=["protocol", "wrong choice of tools"],
)
def test_a_refusal_of_the_daemon_is_shown(
    far_end: Any, editor: Any, greeting: bytes, code: int, complaint: str
) -> None:
    daemon = far_end()
    daemon.greeting = greeting
    pump = editor()
    pump.ask(1)
    assert pump.process.wait(10) == code
    assert pump.complaint() == complaint


@pytest.mark.parametrize(
    ("home", "code", "complaint"),
    [
        ("/proc/nowhere", 4, "error: [^:]+: .*/proc/nowhere"),
        ("~/memory", 2, "error: OBSERVER_HOME begins with ~\nhint: "),
    ],
)
def test_in_a_home_that_is_none_it_ends_and_says_why(
    editor: Any, monkeypatch: pytest.MonkeyPatch, home: str, code: int, complaint: str
) -> None:
    """As with a tilde that no shell expanded."""
    monkeypatch.setenv("OBSERVER_HOME", home)
    pump = editor()
    assert pump.process.wait(20) == code
    assert re.match(complaint, pump.complaint())


# --- its end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(far_end: Any, editor: Any, number: int) -> None:
    far_end()
    pump = editor()
    shake_hands(pump)
    pump.process.send_signal(number)
    assert pump.process.wait(10) == -number


def test_it_ends_when_nobody_reads_it_any_more(far_end: Any, editor: Any) -> None:
    far_end()
    pump = editor()
    shake_hands(pump)
    pump.stdout.close()  # the input stays open, held by a sibling of the dead editor
    assert pump.process.wait(10) == 0


def test_a_daemon_that_never_leaves_does_not_keep_it(far_end: Any, editor: Any) -> None:
    far_end(lambda _: b"", is_clinging=True)
    pump = editor()
    pump.ask(1)
    assert pump.leave() == 0


@pytest.fixture
def quiet() -> Iterator[tuple[Pump, socket.socket]]:
    """A pump in this process, whose daemon is one end of a socket pair with nothing to say."""
    ours, theirs = socket.socketpair()
    ours.settimeout(0)
    pump = Pump(lambda: ours, b"", lambda: KeptAnswers("/", cwd="", tools="core"))
    pump._open()
    yield pump, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def idle(quiet: tuple[Pump, socket.socket]) -> Pump:
    return quiet[0]


def raising(error: OSError) -> Callable[..., Any]:
    def call(*_: Any) -> Any:
        raise error

    return call


def test_a_side_that_is_not_ready_after_all_is_tried_again(
    idle: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "read", raising(BlockingIOError()))
    monkeypatch.setattr(os, "write", raising(BlockingIOError()))
    idle._to_editor += b"x"
    idle._read_editor()
    idle._write_editor()
    idle._talk(idle._daemon, select.POLLIN)
    assert (idle._to_editor, idle._until) == (b"x", None)
    assert idle._daemon is not None


def test_an_input_that_breaks_counts_as_closed_and_such_an_output_ends_it(
    idle: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "read", raising(OSError(5, "the terminal hung up")))
    idle._read_editor()
    assert idle._until is not None
    monkeypatch.setattr(os, "write", raising(BrokenPipeError()))
    idle._to_editor += b"x"
    idle._write_editor()
    assert idle._is_over()


def test_a_lost_daemon_is_not_missed_while_nothing_is_asked(
    idle: Pump, quiet: tuple[Pump, socket.socket]
) -> None:
    quiet[1].close()
    idle._talk(idle._daemon, select.POLLIN)
    idle._ask(INITIALIZED)
    assert idle._daemon is None


def test_what_is_open_is_answered_before_the_end(
    idle: Pump, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = bytearray()
    monkeypatch.setattr(os, "write", lambda _, data: said.extend(data) or len(data))
    idle._journal.sent(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
    idle.apologise('no toolset "x"')
    assert json.loads(said)["error"] == {"code": -32603, "message": 'no toolset "x"'}


@pytest.mark.parametrize("arguments", [["--tool"], ["--tools="], ["x"]])
def test_a_wrong_command_line_is_refused(editor: Any, arguments: list[str]) -> None:
    pump = editor(*arguments)
    assert pump.process.wait(10) == 2
    assert pump.complaint() == (
        f"error: cannot be understood: observer mcp {' '.join(arguments)}\n"
        "hint: usage: observer mcp [--tools NAME[,NAME...]]\n"
    )


def test_its_start_imports_next_to_nothing() -> None:
    code = "import sys; import observer.local.pump; print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, check=True, text=True
    )
    assert not {"json", "socket", "re", "typing", "pathlib", "enum"} & set(run.stdout.split())
