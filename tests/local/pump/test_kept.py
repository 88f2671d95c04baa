"""What a client is answered while no daemon does: what the daemon kept, and only that."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.local import client
from observer.local.pump import VERSION, KeptAnswers, hello, path_of

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


def test_what_is_kept_is_answered(tmp_path: Path) -> None:
    write(tmp_path, hello("core", "/home/ana/shop"))
    found = results_of(kept_in(tmp_path), OPENING, request("tools/list"), request("tools/call"))
    assert found == [OPENED, LISTED, None]


def test_a_new_folder_is_answered_what_is_kept_for_none(tmp_path: Path) -> None:
    write(tmp_path, hello("core", ""))
    assert results_of(kept_in(tmp_path), OPENING) == [OPENED]


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


def test_a_version_without_a_handshake_is_answered_by_what_each_request_says(
    tmp_path: Path,
) -> None:
    kept = KeptAnswers(str(tmp_path), cwd="/home/ana/shop", tools="core")
    modern = request("tools/list", _meta=MODERN)
    (listed,) = results_of(kept, modern)
    assert listed["resultType"] == "complete"


@pytest.mark.parametrize("tools", ["", "core,of-another-package", "core,kiro"])
def test_toolsets_that_the_package_cannot_answer_for_wait_for_the_daemon(
    tmp_path: Path, tools: str
) -> None:
    kept = KeptAnswers(str(tmp_path), cwd="/home/ana/shop", tools=tools)
    assert results_of(kept, OPENING, request("tools/list")) == [None, None]


def test_an_id_is_answered_as_it_was_given(tmp_path: Path) -> None:
    write(tmp_path, hello("core", "/home/ana/shop"))
    kept = kept_in(tmp_path)
    for identifier in ("1", 1, 'a "b"'):
        answer = kept.answer(request("initialize", identifier, protocolVersion="2025-06-18"))
        assert json.loads(answer)["id"] == identifier


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
