"""The envelope: what a hook wrote comes back to the byte; anything else is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.envelope import HEADER_BYTES, Envelope, parse
from observer.core.errors import Undecodable

AT_MS = 1_763_715_600_000


def sealed(*fields: bytes, payload: bytes = b"") -> bytes:
    return b"OBS1\0" + b"".join(field + b"\0" for field in fields) + b"\0" + payload


def opened(*fields: bytes, payload: bytes = b"", at_ms: int = AT_MS) -> Envelope:
    return parse("e1", sealed(b"client=git", b"event=post-commit", *fields, payload=payload), at_ms)


def test_every_field_has_its_place() -> None:
    assert opened(
        b"cwd=/r", b"ppid=7", b"host=box", b"arg=a", b"arg=", b"env.A=1", b"env.git.head=ff"
    ) == Envelope(
        id="e1",
        at_ms=AT_MS,
        client="git",
        event="post-commit",
        cwd="/r",
        ppid="7",
        host="box",
        args=("a", ""),
        env={"A": "1", "git.head": "ff"},
    )


@given(st.binary())
def test_any_bytes_parse_or_are_undecodable(data: bytes) -> None:
    with contextlib.suppress(Undecodable):
        assert parse("e", data, AT_MS).client


@given(st.lists(st.binary(max_size=12).filter(lambda part: b"\0" not in part)), st.binary())
def test_any_fields_parse_or_are_undecodable(fields: list[bytes], payload: bytes) -> None:
    fields = [b"client=c", b"event=e", *filter(None, fields)]
    with contextlib.suppress(Undecodable):
        assert parse("e", sealed(*fields, payload=payload), AT_MS).payload == payload


@given(st.binary())
def test_a_payload_is_untouched(payload: bytes) -> None:
    assert opened(payload=payload).payload == payload


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "OBS1", id="empty"),
        pytest.param(b'{"a": 1}', "OBS1", id="bare-json"),
        pytest.param(b"OBS1", "OBS1", id="cut-in-the-magic"),
        pytest.param(b"OBS1\0client=git\0event=x\0", "header", id="cut-in-the-header"),
        pytest.param(sealed(), "'client'", id="no-fields"),
        pytest.param(sealed(b"client=git"), "'event'", id="no-event"),
        pytest.param(sealed(b"client=", b"event=x"), "'client'", id="empty-client"),
        pytest.param(sealed(b"client=c", b"x=" + b"y" * HEADER_BYTES), "header", id="endless"),
    ],
)
def test_what_is_no_envelope_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        parse("e", data, AT_MS)


def test_a_path_that_is_not_utf_8_costs_its_letter_only() -> None:
    assert opened(b"cwd=/r/\xff").cwd == "/r/\ufffd"


def test_a_value_may_hold_equal_signs_and_newlines() -> None:
    assert opened(b"cwd=/a=b\nc").cwd == "/a=b\nc"


def test_an_unknown_field_is_skipped() -> None:
    assert opened(b"colour=red", b"nothing") == opened()


@pytest.mark.parametrize(
    ("claimed", "at_ms"),
    [
        pytest.param(b"1763715500123", 1_763_715_500_123, id="claimed"),
        pytest.param(b"", AT_MS, id="empty"),
        pytest.param(b"soon", AT_MS, id="words"),
        pytest.param(b"-5", AT_MS, id="negative"),
        pytest.param("١٢".encode(), AT_MS, id="other-digits"),
        pytest.param(b"12", AT_MS, id="before-the-clock-was-set"),
        pytest.param(b"9" * 5000, AT_MS, id="endless"),
        pytest.param(b"1863715500123", AT_MS, id="years-ahead"),
    ],
)
def test_the_time_is_the_claimed_one_unless_that_is_absurd(claimed: bytes, at_ms: int) -> None:
    assert opened(b"at=" + claimed).at_ms == at_ms


@pytest.mark.parametrize(("written", "at_ms"), [(-1, 0), (10**18, 253_402_300_799_999)])
def test_a_file_time_outside_the_calendar_is_brought_in(written: int, at_ms: int) -> None:
    assert opened(at_ms=written).at_ms == at_ms


def test_the_stand_in_session_is_the_client_process() -> None:
    assert opened(b"ppid=7", b"host=box").stand_in_session == "ppid:7@box"


def test_without_a_parent_process_there_is_no_stand_in() -> None:
    assert opened().stand_in_session == ""
