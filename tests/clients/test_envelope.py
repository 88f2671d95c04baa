"""Payloads: their envelope comes back to the byte, and samples become the events beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.envelope import HEADER_BYTES, Envelope, parse
from observer.clients.registry import (
    Attribution,
    agent_variables,
    attribute,
    clients,
    resume_command,
)
from observer.clients.shelf import claude_code
from observer.core.errors import Undecodable
from observer.core.events import Event, Prompt
from observer.core.model import Session
from observer.ingest.decode import decode

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


@pytest.mark.parametrize(
    ("fields", "cwd", "stand_in"),
    [
        ((b"cwd=/r/\xff",), "/r/\ufffd", ""),
        ((b"cwd=/a=b\nc",), "/a=b\nc", ""),
        ((b"colour=red", b"nothing"), "", ""),
        ((b"ppid=7", b"host=box"), "", "ppid:7@box"),
    ],
    ids=["no-utf-8", "equal-signs", "unknown-fields", "client-process"],
)
def test_what_fields_say(fields: tuple[bytes, ...], cwd: str, stand_in: str) -> None:
    found = opened(*fields)
    assert (found.cwd, found.stand_in_session) == (cwd, stand_in)


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


DATA = Path(__file__).parents[1] / "data"


class Sample(msgspec.Struct, forbid_unknown_fields=True):
    entry: str
    fields: dict[str, str]
    becomes: list[Event]
    args: list[str] = []
    env: dict[str, str] = {}
    payload: dict[str, Any] | None = None
    text: str = ""


SAMPLES = {
    client: {
        path.stem: msgspec.json.decode(path.read_bytes(), type=Sample)
        for path in sorted((DATA / client).glob("*.json"))
    }
    for client in clients()
}
every_client = pytest.mark.parametrize("client", clients())


def envelope(sample: Sample) -> bytes:
    fields = [f"{name}={value}" for name, value in sample.fields.items()]
    fields += [f"arg={arg}" for arg in sample.args]
    fields += [f"env.{name}={value}" for name, value in sample.env.items()]
    header = "".join(f"{field}\0" for field in fields)
    payload = sample.text.encode() if sample.payload is None else json(sample.payload)
    return b"OBS1\0" + header.encode() + b"\0" + payload


def json(payload: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(payload)


def decoded(sample: Sample) -> list[Event]:
    return list(decode(sample.entry, envelope(sample), AT_MS, cap_bytes=65536))


@every_client
def test_a_payload_becomes_its_events(client: str) -> None:
    assert SAMPLES[client]
    for name, sample in SAMPLES[client].items():
        assert decoded(sample) == sample.becomes, name


@every_client
def test_unknown_fields_change_no_known_event(client: str) -> None:
    """A newer client's extra fields are data; only an event kept as it came may show them."""
    for name, sample in SAMPLES[client].items():
        tags = {event.body.__struct_config__.tag for event in sample.becomes}
        if sample.payload is not None and "custom" not in tags:
            newer = {**sample.payload, "added_later": {"a": [1]}}
            assert decoded(msgspec.structs.replace(sample, payload=newer)) == sample.becomes, name


@every_client
def test_fields_of_any_other_type_are_survived(client: str) -> None:
    """Text where an object was, numbers where text was: an event, none, or a reason."""
    wrongs = (None, True, 7, -1.5, "", "{", [], [{}], [["a"]], {}, {"a": {"b": []}})
    for name, sample in SAMPLES[client].items():
        for wrong in wrongs if sample.payload is not None else ():
            payload = dict.fromkeys(sample.payload or (), wrong)
            assert is_survived(msgspec.structs.replace(sample, payload=payload)), (name, wrong)


def is_survived(sample: Sample) -> bool:
    payload = {**(sample.payload or {}), "hook_event_name": sample.fields["event"]}
    try:
        events = decoded(msgspec.structs.replace(sample, payload=payload))
    except Undecodable:
        return True
    # Values are built without validation: what their types say must hold all the same.
    return msgspec.json.decode(msgspec.json.encode(events), type=list[Event]) == events


def test_only_reminders_before_the_words_are_taken_away() -> None:
    """Also from a prompt of many blanks, in linear time."""
    quoted = "why does it say <system-reminder>x</system-reminder> here?"
    reminded = f"<system-reminder>y</system-reminder>\n{quoted}"
    blanks = " " * 200_000
    for prompt, said in ((reminded, quoted), (quoted, quoted), (blanks, blanks)):
        assert claude_code._prompt({"prompt": prompt}) == Prompt(text=said)


@pytest.mark.parametrize(
    ("variables", "client", "session"),
    [
        ("CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=s", "claude-code", "s"),
        ("CURSOR_AGENT=1", "cursor", ""),
        ("CODEX_THREAD_ID=s CODEX_SANDBOX=seatbelt", "codex", "s"),
        ("GEMINI_CLI=1", "gemini", ""),
        ("QWEN_CODE=1 QWEN_CODE_SESSION_ID=s", "qwen", "s"),
        ("QWEN_CODE=1", "qwen", ""),
        ("COPILOT_CLI=1 COPILOT_AGENT_SESSION_ID=s", "copilot", "s"),
        ("OPENCODE=1 AGENT=1", "opencode", ""),
        ("KILO=1 OPENCODE=1 AGENT=1", "kilo", ""),
        ("CLINE_NO_INTERACTIVE=1", "cline", ""),
        ("CLINE_CONNECTOR_CLI_LAUNCH=1", "cline", ""),
        ("CLINE_ACTIVE=true", "cline", ""),
        ("PI_CODING_AGENT=true", "pi", ""),
        ("AI_AGENT=robin AGENT=1", "robin", ""),
        ("AI_AGENT=1 AGENT=robin", "robin", ""),
        ("AGENT=1", "", ""),
    ],
)
def test_an_agents_shell_is_known_by_variables(variables: str, client: str, session: str) -> None:
    env = dict(one.split("=") for one in variables.split())
    assert env.keys() & agent_variables()
    in_a_shell = {**env, "OBSERVER_SESSION": "zsh-77-1763715600"}
    assert attribute(in_a_shell) == Attribution(client, session, "agent")


@pytest.mark.parametrize(
    ("session", "client"),
    [("zsh-77-1763715600", "zsh"), ("bash-7-1", "bash"), ("cursor-7-1", ""), ("", "")],
)
def test_any_other_shell_is_a_persons(session: str, client: str) -> None:
    """An empty variable is like none."""
    env = {"AGENT": "", "OBSERVER_SESSION": session}
    assert attribute(env) == Attribution(client, session, "person")


@pytest.mark.parametrize(
    ("client", "session", "parent", "command"),
    [
        ("claude-code", "3f-9", "", "claude --resume 3f-9"),
        ("codex", "01:b", "", "codex resume 01:b"),
        ("copilot", "c.1", "", "copilot --resume=c.1"),
        ("kilo", "ses_1", "", "kilo --session ses_1"),
        ("kiro-cli", "1", "", "kiro-cli chat --resume-id 1"),
        ("codex", "1", "mother", ""),
        ("codex", "1; id", "", ""),
        ("codex", "--last", "", ""),
        ("cline", "1", "", ""),
        ("bash", "bash-1", "", ""),
        ("unheard-of", "1", "", ""),
    ],
)
def test_a_session_is_resumed_by_the_command_of_its_client(
    client: str, session: str, parent: str, command: str
) -> None:
    known = Session(id=1, external=session, client=client, project_id=1, parent=parent)
    assert resume_command(known) == command


@pytest.mark.parametrize("variable", sorted(agent_variables()))
def test_the_hook_script_passes_on_what_a_shell_is_recognised_by(variable: str) -> None:
    hooks = Path(__file__).parents[2] / "hooks"
    assert f"${{{variable}:+" in (hooks / "post").read_text()
    assert f"`{variable}`" in (hooks / "README.md").read_text()
