"""Decoding: any envelope gives events or a reason; the real host is found; giants are cut."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from observer.clients.registry import clients
from observer.core.disk import envelope
from observer.core.errors import Undecodable
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Custom,
    Edit,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Prompt,
    Rewrite,
)
from observer.core.value import Value
from observer.ingest.decode import (
    NAME_CHARACTERS,
    SLACK,
    cut,
    cut_texts,
    decode,
    decode_upcoming,
    decoders,
    truncate,
)
from tests.support import json_of

AT_MS = 1_763_715_600_000
CAP = 65_536

JSON = json_of()
FIELDS = st.sampled_from(
    [
        *("hook_event_name", "tool_name", "tool_input", "tool_response", "tool_output", "error"),
        *("prompt", "session_id", "conversation_id", "workspace_roots", "cwd", "edits"),
        *("attachments", "source", "operations", "command", "duration", "tool_use_id"),
        *("generation_id", "kind", "at", "text"),
    ]
)
EVENTS = st.sampled_from(
    [
        *("SessionStart", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"),
        *("FileChanged", "PreToolUse", "postToolUse", "afterFileEdit", "afterMCPExecution"),
        *("beforeSubmitPrompt", "subagentStart", "agentSpawn", "promptSubmit", "agentStop"),
        *("post-commit", "post-rewrite", "post-checkout", "command", "report", "ü"),
    ]
)


def sealed(client: str, event: str, payload: bytes, *fields: str) -> bytes:
    header = "".join(f"{field}\0" for field in (f"client={client}", f"event={event}", *fields))
    return b"OBS1\0" + header.encode() + b"\0" + payload


def decoded(client: str, event: str, payload: object, *fields: str) -> tuple[Event, ...]:
    data = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
    return decode("e1", sealed(client, event, data, *fields), AT_MS, cap_bytes=CAP)


def only(client: str, event: str, payload: object, *fields: str) -> Event:
    (event_,) = decoded(client, event, payload, *fields)
    return event_


@given(st.binary())
def test_any_bytes_decode_or_are_undecodable(data: bytes) -> None:
    with contextlib.suppress(Undecodable):
        assert isinstance(decode("e", data, AT_MS, cap_bytes=CAP), tuple)


@given(
    st.sampled_from([*clients()]),
    EVENTS,
    st.binary()
    | st.dictionaries(FIELDS | st.text(max_size=6), EVENTS | JSON).map(msgspec.json.encode),
)
def test_any_payload_of_any_client_decodes_or_is_undecodable(
    client: str, event: str, payload: object
) -> None:
    try:
        events = decoded(client, event, payload)
    except Undecodable:
        return
    assert msgspec.json.decode(msgspec.json.encode(events), type=tuple[Event, ...]) == events


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        pytest.param(b"plain words", "not JSON", id="text"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0", "not JSON", id="binary"),
        pytest.param(b'{"prompt": "cut', "not JSON", id="cut-short"),
        pytest.param(b"[]", "list", id="array"),
        pytest.param(b'"words"', "str", id="string"),
        pytest.param(b"null", "NoneType", id="null"),
        pytest.param(b"[" * 100_000, "nested", id="deep-array"),
        pytest.param(b'{"a":' * 100_000, "nested", id="deep-object"),
        pytest.param(b"", "empty payload", id="empty"),
        pytest.param(b" \n", "empty payload", id="blank"),
    ],
)
def test_a_payload_that_is_no_object_is_refused_with_the_reason(
    payload: object, reason: str
) -> None:
    with pytest.raises(Undecodable, match=reason):
        decoded("claude-code", "UserPromptSubmit", payload)


def test_depth_is_refused_inside_a_string_and_before_a_call_too() -> None:
    payload = {"tool_name": "x", "tool_input": '{"a":' * 100_000}
    with pytest.raises(Undecodable, match="nested"):
        decoded("claude-code", "PostToolUse", payload)
    fields = {"client": "claude-code", "event": "PreToolUse"}
    for deep in (b"[" * 100_000, b'{"a":' + b"[" * 1_010 + b"]" * 1_010 + b"}"):  # read, written
        with pytest.raises(Undecodable, match="nested"):
            decode_upcoming("e", envelope(fields, deep), 1, cap_bytes=65_536)


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Stop"])
def test_an_event_that_needs_no_payload_may_have_none(event: str) -> None:
    assert only("claude-code", event, b"", "ppid=7", "host=box").session == "ppid:7@box"


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    ("payload", "field", "kept"),
    [
        ({"model": "gpt-5.5"}, f"env.TRACEPARENT={TRACE}", ("gpt-5.5", TRACE)),
        ({"model": {"id": "m"}}, "env.TRACEPARENT=my-secret", ("", "")),
        ({"model": "m" * 300}, "env.OTHER=1", ("m" * 100, "")),
        ({}, "env.OTHER=1", ("", "")),
    ],
)
def test_an_event_keeps_model_and_trace(
    payload: dict[str, object], field: str, kept: tuple[str, str]
) -> None:
    event = only("claude-code", "UserPromptSubmit", {"prompt": "go on", **payload}, field)
    assert (event.model[:100], event.trace) == kept


def test_an_unknown_client_is_refused_naming_the_known_ones() -> None:
    with pytest.raises(Undecodable, match="antigravity, bash, claude-code, cline"):
        decoded("emacs", "save", {})
    assert set(clients()) < set(decoders().split())


def test_what_a_plugin_reports_has_a_route_of_its_own() -> None:
    payload = {"session_id": "s", "prompt": "why?"}
    hook = only("claude-code", "UserPromptSubmit", payload)
    by_plugin = only("claude-code", "UserPromptSubmit", payload, "arg=plugin")
    assert by_plugin.route == f"{hook.route}/plugin"


def test_odd_bytes_cost_their_character_only() -> None:
    raw = b'\xef\xbb\xbf{"prompt": "a\xffb \\ud83d \\ud83d\\ude00"}\r\n\n'
    said = only("claude-code", "UserPromptSubmit", raw).body
    assert said == Prompt(text="a\ufffdb \ufffd \U0001f600")


@pytest.mark.parametrize(
    ("named", "fields", "payload", "client"),
    [
        ("claude-code", (), {"cursor_version": "3"}, "cursor"),
        ("claude-code", ("env.CURSOR_VERSION=3",), {}, "cursor"),
        ("claude-code", ("env.DEVIN_PROJECT_DIR=/r",), {}, "devin"),
        ("claude-code", (), {"sessionId": "1"}, "copilot"),
        ("claude-code", (), {"sessionId": "1", "hookEventName": "Stop"}, "vscode"),
        ("claude-code", ("env.CLAUDECODE=1",), {}, "claude-code"),
        ("kiro-cli", (), {"session_id": "sess_1"}, "kiro"),
        ("kiro", (), {"hook_event_name": "agentSpawn"}, "kiro-cli"),
        ("kiro", (), {"session_id": 5}, "kiro"),
    ],
)
def test_the_client_is_who_really_ran_the_hook(
    named: str, fields: tuple[str, ...], payload: object, client: str
) -> None:
    assert only(named, "SessionEnd", payload, *fields).client == client


def test_a_long_string_is_cut_before_redaction_and_says_so() -> None:
    output = "head" + "x" * 5_000_000 + "tail"
    payload = {"tool_name": "Bash", "tool_input": {"command": "c"}}
    payload["tool_response"] = {"stdout": output}
    body = only("claude-code", "PostToolUse", payload).body
    assert isinstance(body, Command)
    assert len(body.output) < 5 * CAP
    assert (body.output[:5], body.output[-5:]) == ("headx", "xtail")
    assert f"[… {len(output) - 4 * CAP:,} characters cut …]" in body.output
    written = msgspec.json.encode({"file_path": "/r/a", "content": "x" * 2_000_000}).decode()
    payload = {"tool_name": "Write", "tool_input": written, "conversation_id": "c"}
    body = only("cursor", "postToolUse", payload).body
    assert isinstance(body, FileWrite)
    assert body.path == "/r/a"


def test_a_name_of_any_length_is_short_and_still_its_own() -> None:
    payload = {"tool_name": "Read", "tool_input": {"file_path": "/a"}}
    names = {"session_id": "session", "prompt_id": "turn", "tool_use_id": "dedup"}
    for given_as, name in names.items():
        one, other = (
            getattr(
                only("claude-code", "PostToolUse", {**payload, given_as: "n" * 9999 + end}), name
            )
            for end in "ab"
        )
        assert len(one) <= NAME_CHARACTERS
        assert one != other
    operations = [{"mode": "Line", "path": "a"}, {"mode": "Search", "path": "b", "pattern": "p"}]
    payload = {"tool_name": "fs_read", "tool_input": {"operations": operations}}
    events = decoded("kiro-cli", "postToolUse", payload)
    assert [event.id for event in events] == ["e1", "e1.1"]


def ahead(event: str = "PreToolUse", **payload: object) -> tuple[Event, ...]:
    """Return what a call of Claude Code that is about to be made will be."""
    shown = {"hook_event_name": event, "session_id": "s", "tool_use_id": "t", **payload}
    return decode_upcoming(
        "e", sealed("claude-code", event, msgspec.json.encode(shown)), AT_MS, cap_bytes=CAP
    )


RUN = {"tool_name": "Bash", "tool_input": {"command": "make"}}


def test_a_coming_command_is_foreseen_without_its_end() -> None:
    """Nobody may take it for one that passed."""
    (event,) = ahead(**RUN, tool_response={"stdout": "ok"}, error="x")
    assert isinstance(event.body, Command)
    assert (event.body.command, event.body.output, event.body.exit_code) == ("make", "", None)


def test_a_coming_patch_has_not_failed() -> None:
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    shown = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "apply_patch"}
    data = sealed(
        "codex", "PreToolUse", msgspec.json.encode({**shown, "tool_input": {"command": patch}})
    )
    (event,) = decode_upcoming("e", data, AT_MS, cap_bytes=CAP)
    assert event.body == FileWrite(path="a.py", operation="delete", tool="apply_patch")


def test_what_is_no_coming_call_or_a_giant_is_not_foreseen() -> None:
    assert ahead("PostToolUse", **RUN) == ()
    assert ahead(tool_name="Bash", tool_input={"command": "x" * SLACK * CAP}) == ()
    empty = sealed("claude-code", "PreToolUse", b"")
    assert decode_upcoming("e", empty, AT_MS, cap_bytes=CAP) == ()


TEXTS = st.builds(
    lambda text, times: text * times, st.text(min_size=1, max_size=5), st.sampled_from([0, 1, 2000])
)
MANY = st.lists(TEXTS, max_size=60).map(tuple)
BODIES: st.SearchStrategy[AnyBody] = st.one_of(
    st.builds(Command, command=TEXTS, output=TEXTS),
    st.builds(Custom, name=TEXTS, text=TEXTS, files=MANY),
    st.builds(
        FileWrite, path=TEXTS, content=TEXTS, edits=st.lists(st.builds(Edit, old=TEXTS)).map(tuple)
    ),
    st.builds(
        Commit,
        hash=TEXTS,
        message=TEXTS,
        files=st.lists(st.builds(FileChange, path=TEXTS, symbols=MANY), max_size=40).map(tuple),
    ),
    st.builds(Rewrite, pairs=st.lists(st.tuples(TEXTS, TEXTS), max_size=60).map(tuple)),
)
LEAST_CAP_BYTES = 1024
CAPS = st.sampled_from([LEAST_CAP_BYTES, 5000, 65_536])


def event(body: AnyBody, cwd: str = "/r") -> Event:
    return Event(id="e1", at_ms=1, client="c", body=body, session="s" * 60, cwd=cwd)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Value | tuple):
        for part in structs.astuple(value) if isinstance(value, Value) else value:
            yield from texts(part)


def size(fitted: Event) -> int:
    content = (fitted.body, fitted.cwd, fitted.roots)
    return sum(len(text.encode()) for text in texts(content))


@given(BODIES, CAPS)
def test_the_text_of_an_event_never_exceeds_the_cap(body: AnyBody, cap_bytes: int) -> None:
    fitted = truncate(event(body), cap_bytes)
    assert size(fitted) <= cap_bytes
    assert truncate(fitted, cap_bytes) == fitted


def test_short_texts_stay_whole_and_long_ones_share_the_room() -> None:
    original = event(Prompt(text='"' * 900))  # however its JSON swells
    assert truncate(original, LEAST_CAP_BYTES) is original
    body = Command(command="make test", output="x" * 100_000, description="Run the tests")
    fitted = truncate(event(body), 5000).body
    assert isinstance(fitted, Command)
    assert (fitted.command, fitted.description) == ("make test", "Run the tests")
    one = Commit(hash="1", message="m" * 9000, files=(FileChange(path="p"),))
    assert truncate(event(one), 2000).body.files == one.files  # type: ignore[union-attr]
    shared = truncate(event(Custom(name="a" * 9000, text="b" * 90_000)), 4000).body
    assert isinstance(shared, Custom)
    assert abs(len(shared.name) - len(shared.text)) < 10
    deep = event(Prompt(text="a"), cwd="/d" * 9000)
    assert size(truncate(deep, LEAST_CAP_BYTES)) <= LEAST_CAP_BYTES


@pytest.mark.parametrize(
    ("body", "named"),
    [
        pytest.param(FileRead(paths=("a/b",) * 9000), "paths", id="texts"),
        pytest.param(Rewrite(pairs=(("1" * 40, "2" * 40),) * 9000), "pairs", id="pairs"),
    ],
)
def test_a_long_list_keeps_its_beginning_and_counts_the_rest(body: AnyBody, named: str) -> None:
    elements = getattr(truncate(event(body), 8192).body, named)
    assert elements[0] == getattr(body, named)[0]
    left_out = re.search(r"\[… ([\d,]+) more …\]", "".join(texts(elements[-1])))
    assert left_out is not None
    assert len(elements) - 1 + int(left_out[1].replace(",", "")) == 9000


def test_a_commit_of_many_files_says_what_those_come_to_that_are_not_listed() -> None:
    files = tuple(FileChange(path=f"{n}", added=n, removed=1) for n in range(9000))
    fitted = truncate(event(Commit(hash="1", files=files)), 8192).body
    assert isinstance(fitted, Commit)
    count = len(fitted.files)
    assert 0 < count < 100
    assert fitted.files == files[:count]
    assert fitted.unlisted == (9000 - count, sum(range(count, 9000)), 9000 - count)
    smaller = truncate(event(fitted), 2048).body
    assert isinstance(smaller, Commit)
    assert smaller.unlisted[0] == 9000 - len(smaller.files)
    assert smaller.unlisted[1] == sum(range(len(smaller.files), 9000))


def test_a_million_empty_elements_are_too_many_but_symbols_leave_room_for_the_next_file() -> None:
    fitted = truncate(event(FileRead(paths=("",) * 1_000_000)), 8192).body
    assert isinstance(fitted, FileRead)
    assert len(fitted.paths) < 100
    change = FileChange(path="p", symbols=("function_" * 9,) * 500)
    commit = truncate(event(Commit(hash="1", files=(change,) * 20)), 65_536).body
    assert isinstance(commit, Commit)
    assert len(commit.files) == 20


@given(TEXTS, st.integers(min_value=16, max_value=6000))
def test_a_cut_text_is_never_longer_than_its_limit(text: str, limit_bytes: int) -> None:
    assert len(cut(text, limit_bytes).encode()) <= limit_bytes


def test_a_cut_keeps_what_it_can_and_counts_the_first() -> None:
    left = "a" * 50 + "[… 9,900 characters cut …]" + "b" * 50
    assert cut("a" * 5000 + "b" * 5000, 131) == left
    assert cut("x" * 100, 20) == "x" * 17 + "…"
    assert "\ufffd" not in cut("ä€😀" * 3000, 1001)
    twice = cut(cut("x" * 10_000, 4000), 1000)
    kept = len(re.sub(r"\[….*?…\]", "", twice))
    assert f"[… {10_000 - kept:,} characters cut …]" in twice


def trimmed(text: str) -> str:
    return cut_texts(event(Prompt(text=text)), 100).body.text  # type: ignore[union-attr]  # a prompt


def test_trimming_keeps_head_and_tail_of_what_is_too_long() -> None:
    assert trimmed("x" * 100) == "x" * 100
    cut_out = "[… 1,000 characters cut …]"
    assert trimmed("h" * 50 + "x" * 1000 + "t" * 50) == "h" * 50 + cut_out + "t" * 50


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a <private>" + "s" * 500 + "</private> b", id="cut-falls-inside"),
        pytest.param("a" * 60 + "<private>" + "s" * 500 + "</private> b", id="begins-in-the-cut"),
        pytest.param("a <PRIVATE>" + "s" * 500 + "</PRIVATE>" + "b" * 60, id="ends-in-the-cut"),
        pytest.param("a <private>" + "s" * 500, id="never-ends"),
    ],
)
def test_a_private_span_stays_private_across_the_cut(text: str) -> None:
    """What redaction sees as public after the cut was public before it."""
    public = re.sub(r"(?is)<private>.*?(?:</private>|\Z)", "", trimmed(text))
    assert "ss" not in public
