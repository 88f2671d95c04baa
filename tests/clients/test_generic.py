"""The open door: documented JSON becomes an event, anything else is refused by name."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.generic import KINDS, report, schema
from observer.core.errors import BadInput
from observer.core.events import (
    Command,
    Commit,
    Custom,
    Edit,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    kind_of,
)
from tests.support import SCALARS, json_of

NOW_MS = 1_763_715_600_000
LEAST: dict[str, dict[str, Any]] = {
    "session-start": {},
    "session-end": {},
    "prompt": {"text": "why?"},
    "reply": {},
    "file-write": {"path": "a"},
    "file-read": {"paths": ["a"]},
    "command": {"command": "make"},
    "search": {"query": "x"},
    "delegation": {},
    "tool-use": {"tool": "t"},
    "commit": {"hash": "a" * 40},
    "custom": {"name": "n"},
}
JSON = json_of(SCALARS | st.floats(), most=6)
FIELDS = sorted(
    {name for of in KINDS.values() for name in of.__struct_fields__} | {"at", "id", "cwd"}
)


def reported(**fields: Any) -> Event:
    return report(fields, entry_id="e1", at_ms=NOW_MS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_reported_with_its_least_fields(kind: str) -> None:
    assert kind_of(reported(kind=kind, **LEAST[kind]).body) == kind


def test_the_documented_example() -> None:
    assert reported(
        kind="command", command="make", exit_code=2, session="s1", cwd="/repo", client="my-editor"
    ) == Event(
        id="e1",
        at_ms=NOW_MS,
        client="my-editor",
        body=Command(command="make", exit_code=2),
        session="s1",
        cwd="/repo",
        route="generic/command",
        author="person",
    )


def test_objects_within_a_report_are_read() -> None:
    edits = [{"old": "x", "new": "y"}]
    written = FileWrite(path="a", operation="edit", edits=(Edit(old="x", new="y"),))
    assert reported(kind="file-write", path="a", operation="edit", edits=edits).body == written
    files = [{"path": "a", "added": 1}]
    made = Commit(hash="a" * 64, files=(FileChange(path="a", added=1),))
    assert reported(kind="commit", hash="a" * 64, files=files).body == made
    assert reported(kind="file-read", path="a").body == FileRead(paths=("a",))
    assert reported(kind="command", command="make", colour="red").body == Command(command="make")


@pytest.mark.parametrize(
    ("author", "cause", "name"),
    [("Ana Lee", "person", "Ana Lee"), ("agent", "agent", ""), (None, "person", "")],
)
def test_a_commit_has_an_author_of_its_own(author: str | None, cause: str, name: str) -> None:
    event = reported(kind="commit", hash="a" * 40, **({"author": author} if author else {}))
    assert isinstance(event.body, Commit)
    assert (event.author, event.body.author) == (cause, name)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"text": "out"}, "out", id="none"),
        pytest.param({"text": "out", "stage": 1}, 'out\n{"stage":1}', id="beside-text"),
        pytest.param({"stage": 1}, '{"stage":1}', id="alone"),
    ],
)
def test_a_custom_event_keeps_unknown_fields_in_its_text(fields: dict[str, Any], text: str) -> None:
    assert reported(kind="custom", name="deploy", **fields).body == Custom(name="deploy", text=text)


@pytest.mark.parametrize(
    ("fields", "dedup"),
    [
        pytest.param({"id": "7", "client": "ed"}, "generic:ed:7", id="own-key"),
        pytest.param({}, "commit:" + "a" * 40, id="hash"),
    ],
)
def test_shown_again_it_is_the_same_commit(fields: dict[str, Any], dedup: str) -> None:
    assert reported(kind="commit", hash="a" * 40, **fields).dedup == dedup


@pytest.mark.parametrize(
    ("at", "at_ms"),
    [
        pytest.param(None, NOW_MS, id="absent"),
        pytest.param(1_763_715_500_123, 1_763_715_500_123, id="milliseconds"),
        pytest.param(1_763_715_500_123.9, 1_763_715_500_123, id="fraction"),
        pytest.param("2025-11-21T08:58:20.123Z", 1_763_715_500_123, id="iso"),
        pytest.param("2025-11-21T09:58:20.123+01:00", 1_763_715_500_123, id="iso-zone"),
        pytest.param("2025-11-21T08:58:20", 1_763_715_500_000, id="iso-without-zone"),
        pytest.param(NOW_MS + 3_600_000, NOW_MS + 3_600_000, id="a-clock-ahead"),
    ],
)
def test_a_time_is_milliseconds_or_iso(at: float | str | None, at_ms: int) -> None:
    assert reported(kind="reply", at=at).at_ms == at_ms


@pytest.mark.parametrize(
    "at",
    [
        *(-1, 0, 1_763_715_500, NOW_MS * 10, 10**400, 1e300, float("nan"), float("inf")),
        *("soon", "", "9999-12-31", "0001-01-01T00:00:00+23:59", True, [], {}),
    ],
    ids=lambda at: repr(at)[:24],
)
def test_an_absurd_time_is_refused_by_name(at: Any) -> None:
    with pytest.raises(BadInput, match="'at'"):
        reported(kind="reply", at=at)


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        pytest.param([], "object", id="no-object"),
        pytest.param({}, "'kind'", id="no-kind"),
        pytest.param({"kind": "remember"}, "remember", id="kind-of-another-door"),
        pytest.param({"kind": []}, "'kind'", id="kind-of-another-type"),
        pytest.param({"kind": "command"}, "'command'", id="missing"),
        pytest.param({"kind": "command", "command": 7}, "'command'", id="another-type"),
        pytest.param(
            {"kind": "command", "command": "a", "exit_code": "2"}, "'exit_code'", id="text"
        ),
        pytest.param(
            {"kind": "command", "command": "a", "exit_code": 10**30}, "'exit_code'", id="huge"
        ),
        pytest.param(
            {"kind": "command", "command": "a", "duration_ms": -1}, "'duration_ms'", id="negative"
        ),
        pytest.param({"kind": "commit", "hash": "--output=x"}, "'hash'", id="hash-like-an-option"),
        pytest.param({"kind": "commit", "hash": "a" * 40 + "\n"}, "'hash'", id="hash-and-newline"),
        pytest.param({"kind": "file-read", "paths": ["a", 1]}, "paths", id="inside-a-list"),
        pytest.param(
            {"kind": "custom", "name": "n", "text": 5, "x": 1}, "'text'", id="custom-text"
        ),
        pytest.param({"kind": "reply", "session": "s" * 201}, "'session'", id="long-name"),
        pytest.param({"kind": "reply", "client": ""}, "'client'", id="empty-client"),
        pytest.param({"kind": "reply", "usage": {"input": -1}}, "usage.input", id="below-nothing"),
        pytest.param({"kind": "reply", "author": "robot"}, "'author'", id="author"),
        pytest.param({"kind": "reply", "text": "\ud800"}, "Unicode", id="half-a-pair"),
    ],
)
def test_what_is_wrong_is_refused_by_name_with_a_hint(payload: Any, named: str) -> None:
    with pytest.raises(BadInput, match=named) as refused:
        report(payload, entry_id="e", at_ms=NOW_MS)
    assert refused.value.hint


@given(
    JSON
    | st.fixed_dictionaries(
        {"kind": st.sampled_from([*KINDS])}, optional=dict.fromkeys(FIELDS, JSON)
    )
)
def test_anything_is_an_event_or_bad_input(payload: Any) -> None:
    try:
        event = report(payload, entry_id="e", at_ms=NOW_MS)
    except BadInput:
        return
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


def test_the_schema_has_every_kind_its_fields_and_what_it_refers_to() -> None:
    required = {each["title"]: set(each["required"]) for each in schema()["oneOf"]}
    assert required == {kind: {"kind", *least} for kind, least in LEAST.items()}
    assert all(
        {"at", "session", "cwd", "id"} <= set(each["properties"]) for each in schema()["oneOf"]
    )
    text = msgspec.json.encode(schema()).decode()
    named = {part.partition('"')[0] for part in text.split("#/$defs/")[1:]}
    assert named == set(schema()["$defs"])
