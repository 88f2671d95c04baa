"""Events, items, times, errors and patterns: what each carries, and what follows from it."""

from __future__ import annotations

import re
import uuid
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core import errors
from observer.core.clock import LAST_MS, iso_ms
from observer.core.errors import NotFound, ObserverError
from observer.core.events import AnyBody, Command, Event, FileWrite, Prompt, Rewrite, kind_of
from observer.core.model import iso, item_id, item_uuid
from observer.core.patterns import lazy_pattern

TIMES = st.integers(min_value=0, max_value=(1 << 48) - 1)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Command(command="ls", exit_code=0, failed=False), id="command"),
        pytest.param(FileWrite(path="/a", content=None), id="file-write"),
        pytest.param(Rewrite(pairs=(("a", "b"),)), id="rewrite"),
    ],
)
def test_an_event_survives_its_json(body: AnyBody) -> None:
    event = Event(id="e", at_ms=1, client="c", body=body, roots=("/r",))
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


def test_unknown_fields_of_a_newer_log_are_ignored() -> None:
    text = b'{"id":"e","at_ms":1,"client":"c","new":2,"body":{"kind":"prompt","text":"t","new":3}}'
    expected = Event(id="e", at_ms=1, client="c", body=Prompt(text="t"))
    assert msgspec.json.decode(text, type=Event) == expected


def test_every_happening_has_a_kind_of_its_own() -> None:
    kinds = [body.__struct_config__.tag for body in get_args(AnyBody)]
    assert len(set(kinds)) == len(kinds)


def test_the_kind_is_the_tag() -> None:
    assert kind_of(Command(command="ls")) == "command"


def test_ids_of_different_events_and_slots_never_meet() -> None:
    slots = ("observation", "summary", "arc")
    ids = [item_id(seq, slot) for seq in range(1, 100) for slot in slots]  # type: ignore[arg-type]  # the three slots
    assert len(set(ids)) == len(ids)


@given(event_id=st.text(alphabet=st.characters(exclude_categories=["Cs"])), at_ms=TIMES)
def test_a_uuid_is_version_7_and_carries_the_time(event_id: str, at_ms: int) -> None:
    made = uuid.UUID(item_uuid(event_id, at_ms))
    assert (made.version, made.variant, made.int >> 80) == (7, uuid.RFC_4122, at_ms)


@given(one=st.text(max_size=9), other=st.text(max_size=9))
def test_uuids_follow_from_the_event_alone(one: str, other: str) -> None:
    one, other = one.encode("utf-8", "replace").decode(), other.encode("utf-8", "replace").decode()
    assert (item_uuid(one, 5) == item_uuid(other, 5)) is (one == other)


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [(0, "1970-01-01T00:00:00.000Z"), (1_732_000_000_123, "2024-11-19T07:06:40.123Z")],
)
def test_times_are_shown_as_iso_8601(at_ms: int, text: str) -> None:
    assert iso(at_ms) == text


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:01Z", 1_000),
        ("1970-01-01T01:00:00.5+01:00", 500),
        ("1970-01-02", 86_400_000),
        ("1969-12-31T23:59:59", -1_000),
        ("9999-12-31T23:59:59.999Z", LAST_MS),
        ("", None),
        ("yesterday", None),
        ("2026-02-30", None),
    ],
)
def test_a_time_without_a_zone_is_utc(text: str, at_ms: int | None) -> None:
    assert iso_ms(text) == at_ms


CHILDREN = [e for e in vars(errors).values() if isinstance(e, type) and e is not ObserverError]


@pytest.mark.parametrize(
    ("hint", "text"), [("list them", "no project (list them)"), ("", "no project")]
)
def test_the_text_ends_with_the_hint(hint: str, text: str) -> None:
    assert str(NotFound("no project", hint=hint)) == text


@pytest.mark.parametrize("child", CHILDREN, ids=lambda child: child.__name__)
def test_every_error_tells_scripts_what_it_is(child: type[ObserverError]) -> None:
    assert issubclass(child, ObserverError)
    assert child.exit_code > 1
    assert child.code != ObserverError.code
    assert child.__doc__


TEXT = "two Words, one more"


def test_it_finds_what_a_compiled_one_finds() -> None:
    lazy, eager = (
        make(r"(?P<word>w\w+)|ONE", re.IGNORECASE) for make in (lazy_pattern, re.compile)
    )
    for _ in range(2):
        assert lazy.sub("-", TEXT) == eager.sub("-", TEXT) == "t- -, - more"
        assert [match["word"] for match in lazy.finditer(TEXT)] == ["wo", "Words", None]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (eager.pattern, eager.flags, eager.groups)


def test_it_is_compiled_when_it_is_first_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search(TEXT)
