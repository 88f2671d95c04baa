"""What a client is answered while no daemon does, what is sent anew, and who is dialled."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import DaemonUnavailable
from observer.core.paths import Home
from observer.local import client
from observer.local.journal import HEAD_BYTES, Journal, Lines, answer_key
from observer.local.pump import (
    PROTOCOL,
    SOCKET_NAME_BYTES,
    UNAVAILABLE,
    VERSION,
    KeptAnswers,
    Pump,
    Stopped,
    dial,
    hello,
    path_of,
    working_folder,
)
from observer.local.pump import socket_path as found

LISTED = {"tools": [{"name": "search"}]}
OPENED = {"protocolVersion": "2025-06-18", "instructions": "Search before"}


def request(method: str, identifier: object = 1, **params: Any) -> bytes:
    asked = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
OPENING = request("initialize", protocolVersion="2025-06-18", **CLIENT)
MODERN = {
    VERSION: "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": {},
}


def write(root: Path, greeting: bytes, *, under: bytes = b"", results: Any = None) -> None:
    path = Path(path_of(str(root), under or greeting))
    path.parent.mkdir(parents=True, exist_ok=True)
    results = results or {"2025-06-18": {"initialize": OPENED, "tools/list": LISTED}}
    path.write_bytes(greeting + json.dumps(results).encode())


def results_of(kept: KeptAnswers, *lines: bytes) -> list[Any]:
    answers = [kept.answer(line) for line in lines]
    return [json.loads(answer)["result"] if answer else None for answer in answers]


def kept_in(root: Path) -> KeptAnswers:
    Home(root).database.touch()
    return KeptAnswers(str(root), cwd="/home/ana/shop", tools="core")


@pytest.mark.parametrize("folder", ["/home/ana/shop", ""], ids=["for the folder", "for none"])
def test_what_is_kept_is_answered(tmp_path: Path, folder: str) -> None:
    write(tmp_path, hello("core", folder))
    found = results_of(kept_in(tmp_path), OPENING, request("tools/list"), request("tools/call"))
    assert found == [OPENED, LISTED, None]
    for identifier in ("1", 1, 'a "b"'):
        opening = request("initialize", identifier, protocolVersion="2025-06-18")
        assert json.loads(kept_in(tmp_path).answer(opening))["id"] == identifier


OTHERS = [
    pytest.param(b'{"observer":1,"version":"0.0.9","cwd":"/home/ana/shop"}\n', id="version"),
    pytest.param(hello("memex", "/home/ana/shop"), id="toolsets"),
    pytest.param(hello("core", "/home/ana/other"), id="folder"),
    pytest.param(hello("core", "/home/ana/shop", ("A=1",)), id="variables"),
    pytest.param(b"", id="no first line"),
    pytest.param(hello("core", "/home/ana/shop") + b"[1", id="no JSON"),
]


@pytest.mark.parametrize("greeting", OTHERS)
def test_a_file_for_anything_else_is_not_answered_from(tmp_path: Path, greeting: bytes) -> None:
    write(tmp_path, greeting, under=hello("core", "/home/ana/shop"))
    assert results_of(kept_in(tmp_path), OPENING, request("tools/list")) == [None, None]


@pytest.mark.parametrize(
    "opening",
    [
        request("initialize", protocolVersion="2031-01-01"),
        request("initialize"),
        b"[]\n",
        b"\xff\n",
    ],
)
def test_a_version_that_is_not_kept_waits_for_the_daemon(tmp_path: Path, opening: bytes) -> None:
    write(tmp_path, hello("core", "/home/ana/shop"))
    assert results_of(kept_in(tmp_path), opening, request("tools/list")) == [None, None]


@pytest.mark.parametrize("tools", ["core", "core,story", " memex"])
def test_where_nothing_was_remembered_yet_the_package_answers(tmp_path: Path, tools: str) -> None:
    kept = KeptAnswers(str(tmp_path / "home"), cwd="/home/ana/shop", tools=tools)
    opened, listed, called = results_of(
        kept, OPENING, request("tools/list"), request("tools/call", name="search")
    )
    assert opened["protocolVersion"] == "2025-06-18"
    assert opened["instructions"]
    assert len(listed["tools"]) > len(tools.split(","))
    assert called is None
    (listed,) = results_of(kept, request("tools/list", _meta=MODERN))  # without a handshake
    assert listed["resultType"] == "complete"


@pytest.mark.parametrize("tools", ["", "core,of-another-package", "core,kiro"])
def test_toolsets_that_the_package_cannot_answer_for_wait_for_the_daemon(
    tmp_path: Path, tools: str
) -> None:
    kept = KeptAnswers(str(tmp_path), cwd="/home/ana/shop", tools=tools)
    assert results_of(kept, OPENING, request("tools/list")) == [None, None]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_tools_are_listed_in_a_home_that_was_never_used(
    home: Home, editor: Callable[..., Any], tmp_path: Path, era: str
) -> None:
    home.root.mkdir(exist_ok=True)
    with home.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # no daemon comes up before it is released
        opened = editor(cwd=tmp_path)
        if era == "handshake":
            opened.say(OPENING)
            assert opened.hear()["result"]["instructions"]
        given = {"_meta": MODERN} if era == "modern" else {}
        opened.say(request("tools/list", 2, **given))
        assert opened.hear()["result"]["tools"]
        opened.say(request("tools/call", 3, name="search", arguments={"query": "x"}, **given))
    assert opened.hear()["id"] == 3


@pytest.mark.slow
def test_the_tools_are_listed_before_the_daemon_is_up(
    home: Home, editor: Callable[..., Any], until: Callable[..., None], tmp_path: Path
) -> None:
    first = editor(cwd=tmp_path)
    first.say(OPENING)
    first.say(request("tools/list", 2))
    shown = [first.hear(), first.hear()]
    until(Path(path_of(str(home.root), hello("core", str(tmp_path)))).exists)
    client.stop(home)
    with home.lock.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # no daemon comes up before it is released
        second = editor(cwd=tmp_path)
        second.say(OPENING)
        second.say(request("tools/list", 2))
        assert [second.hear(), second.hear()] == shown
        second.say(request("tools/call", 3, name="search", arguments={"query": "x"}))
    assert second.hear()["id"] == 3


def asking(identifier: object, method: str = "tools/list") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method}).encode() + b"\n"


def answer(identifier: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "result": {}}).encode() + b"\n"


INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@given(st.lists(st.binary(max_size=20)))
def test_lines_are_the_same_however_the_bytes_arrive(chunks: list[bytes]) -> None:
    lines = Lines()
    shown = [line for chunk in chunks for line in lines.feed(chunk)]
    whole = b"".join(chunks).split(b"\n")
    assert shown == [part + b"\n" for part in whole[:-1] if part.strip()]


def test_a_line_over_the_limit_is_dropped_and_counted() -> None:
    lines = Lines(limit=10)
    shown = [line for chunk in (b"x" * 8, b"y" * 8, b"z\nshort\n") for line in lines.feed(chunk)]
    assert (shown, lines.dropped) == ([b"short\n"], 1)
    list(lines.feed(b"x" * 100))
    assert lines._parts == []


@pytest.mark.parametrize(
    ("head", "key"),
    [
        pytest.param(b'{"jsonrpc":"2.0","id":7,"result":{}}', "7", id="number"),
        pytest.param(b'{"jsonrpc":"2.0","id":"7","result":{}}', '"7"', id="text"),
        pytest.param(b'{"jsonrpc":"2.0","id": 7,"error":{}}', "7", id="error"),
        pytest.param(b'{"jsonrpc":"2.0","method":"x","params":{"id":7}}', "", id="notification"),
        pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"x"}', "", id="the daemon's own question"),
        pytest.param(b'{"jsonrpc":"2.0"}', "", id="no id"),
        pytest.param(b'{"id":', "", id="cut"),
        pytest.param(b"\xff\x00", "", id="no text"),
    ],
)
def test_the_key_of_an_answer_is_read_from_its_head(head: bytes, key: str) -> None:
    assert answer_key(head) == key


def test_the_handshake_is_replayed_and_its_answer_swallowed_once_it_had_one() -> None:
    journal = Journal()
    opening = asking(0, "initialize")
    journal.sent(opening)
    assert journal.replay() == ([opening], "")
    for line in (INITIALIZED, asking(1)):
        journal.sent(line)
    journal.answered(answer(0))
    assert journal.replay() == ([opening, INITIALIZED, asking(1)], "0")


def test_a_request_is_sent_again_until_it_is_answered_cancelled_or_given_up() -> None:
    journal = Journal()
    for identifier in (1, "1", 2, 3):
        journal.sent(asking(identifier))
    journal.answered(answer(1))
    journal.answered(answer(2)[:-3] + b"x" * 10 * HEAD_BYTES)  # only its head is looked at
    journal.sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}\n')
    assert journal.replay() == ([asking("1")], "")
    assert list(journal.give_up(sends=2)) == []
    (given_up,) = journal.give_up(sends=2)
    assert json.loads(given_up)["id"] == "1"
    assert journal.is_settled()


def test_settled_requests_are_forgotten_on_the_way() -> None:
    journal = Journal()
    for number in range(1000):
        journal.sent(asking(number))
        journal.answered(answer(number))
    assert len(journal._open) + len(journal._log) < 100


def test_protocol_and_exit_code_are_those_of_all_clients() -> None:
    assert (client.PROTOCOL, DaemonUnavailable.exit_code) == (PROTOCOL, UNAVAILABLE)


def test_a_name_too_long_for_the_kernel_is_reached_through_the_link(tmp_path: Path) -> None:
    home = Home(tmp_path / ("x" * SOCKET_NAME_BYTES))
    home.root.mkdir()
    (home.root / "run").symlink_to(home.run)
    assert found(str(home.root)) == str(home.mcp_socket)


def test_the_folder_of_a_plugin_and_one_that_was_deleted_are_not_where_somebody_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients of Agent Plugins start a plugin's server in its folder."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PLUGIN_ROOT", str(gone))
    assert working_folder() == ""
    monkeypatch.setenv("PLUGIN_ROOT", "/elsewhere")
    assert working_folder() == str(gone)
    gone.rmdir()
    assert working_folder() == ""


@pytest.mark.parametrize(
    ("starter", "reason"),
    [("/bin/true", "does not answer"), ("/bin/false", "could not be started")],
)
def test_a_start_in_vain_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch, starter: str, reason: str
) -> None:
    monkeypatch.setattr(sys, "executable", starter)
    root = str(home.root)
    pump = Pump(lambda: dial(root), b"", lambda: KeptAnswers(root, cwd="", tools="core"))
    pump._open()
    with pytest.raises(Stopped, match=reason):
        while pump._starting is not None:
            pump._await_start(pump._starting)


def test_a_socket_of_another_user_is_not_spoken_to(
    home: Home, far_end: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = far_end()
    us = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: us + 1)
    with pytest.raises(OSError, match="another user"):
        dial(str(home.root))
    assert daemon.heard == []
