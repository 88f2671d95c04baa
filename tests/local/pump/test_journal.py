from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.local.journal import HEAD_BYTES, Journal, Lines, answer_key, refusal


def request(identifier: object, method: str = "tools/list") -> bytes:
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


def test_a_line_over_the_limit_is_not_kept_in_memory() -> None:
    lines = Lines(limit=10)
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


def test_an_answered_request_is_not_sent_again() -> None:
    journal = Journal()
    journal.sent(request(1))
    journal.sent(request("1"))
    journal.answered(answer(1))
    assert journal.replay() == ([request("1")], "")


def test_a_large_answer_settles_its_request() -> None:
    journal = Journal()
    journal.sent(request(1))
    journal.answered(answer(1)[:-3] + b"x" * 10 * HEAD_BYTES)
    assert journal.is_settled()


def test_a_cancelled_request_is_not_sent_again() -> None:
    journal = Journal()
    journal.sent(request(1))
    journal.sent(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    assert journal.is_settled()


def test_the_handshake_is_replayed_and_its_answer_swallowed() -> None:
    journal = Journal()
    for line in (request(0, "initialize"), INITIALIZED, request(1)):
        journal.sent(line)
    journal.answered(answer(0))
    lines = [request(0, "initialize"), INITIALIZED, request(1)]
    assert journal.replay() == (lines, "0")


def test_an_unanswered_handshake_is_sent_again_and_not_swallowed() -> None:
    journal = Journal()
    journal.sent(request(0, "initialize"))
    assert journal.replay() == ([request(0, "initialize")], "")


def test_a_request_that_was_sent_too_often_is_given_up() -> None:
    journal = Journal()
    journal.sent(request("a"))
    assert list(journal.give_up(sends=2)) == []
    (shown,) = journal.give_up(sends=2)
    assert json.loads(shown)["id"] == "a"
    assert journal.is_settled()


@given(st.binary())
def test_any_line_of_an_editor_can_be_noted(line: bytes) -> None:
    journal = Journal()
    journal.sent(line)
    journal.answered(line)
    again, _ = journal.replay()
    assert set(again) <= {line}


def test_settled_requests_are_forgotten_on_the_way() -> None:
    journal = Journal()
    for number in range(1000):
        journal.sent(request(number))
        journal.answered(answer(number))
    assert len(journal._open) + len(journal._log) < 100


def test_a_refusal_is_a_json_rpc_error() -> None:
    shown = json.loads(refusal("null", "too long"))
    assert (shown["id"], shown["error"]["message"]) == (None, "too long")
