"""Texts, JSON, events, times and errors: read as they are, or one error; shown short and whole."""

from __future__ import annotations

import re
import shlex
import sys
import uuid

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core import errors
from observer.core import text as wording
from observer.core.clock import LAST_MS, iso_ms
from observer.core.errors import NotFound, ObserverError, StoreUnavailable
from observer.core.events import Event, Prompt
from observer.core.json_text import dump, load, repair_encoding, strings
from observer.core.model import item_uuid
from observer.core.patterns import lazy_pattern
from observer.core.value import decode_json
from observer.observations import project_state, session_state


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b'"\\ud83d\\ude00"', "\U0001f600", id="pair"),
        pytest.param(b'"a\\ud83d"', "a\ufffd", id="first-half"),
        pytest.param(b'"\\ude00b"', "\ufffdb", id="second-half"),
        pytest.param(b'"\\\\ud83d"', "\\ud83d", id="no-escape"),
        pytest.param(b'\xef\xbb\xbf"a"', "a", id="byte-order-mark"),
        pytest.param(b'"\xff"', "\ufffd", id="no-utf-8"),
        pytest.param(b'"see \\*** \\n"', "see \\*** \n", id="unknown-escape"),
        pytest.param(b'"\\\xc3\xa9"', "\\\u00e9", id="unknown-escape-of-two-bytes"),
        pytest.param(b'"\\u00***"', "\\u00***", id="unfinished-escape"),
    ],
)
def test_what_is_no_character_costs_itself_alone(data: bytes, text: str) -> None:
    assert msgspec.json.decode(repair_encoding(data)) == text


@pytest.mark.parametrize("data", ["plain words", b"{'a': 1}", b"", b"\xff", b"[1,]", "NaN"])
def test_what_is_not_json_is_refused(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"JSON|truncated"):
        load(data)


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_depth_is_refused_as_such(depth: int) -> None:
    with pytest.raises(RecursionError):
        load(b"[" * depth + b"]" * depth)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="the last of equal keys"),
        pytest.param("18446744073709551615", 2**64 - 1, id="64 bits"),
        pytest.param("18446744073709551616", float(2**64), id="more than 64 bits"),
        pytest.param('"cut \\ud83d here"', "cut \ufffd here", id="half a pair in a string"),
        pytest.param('"cut \ud83d here"', "cut ? here", id="half a pair itself"),
        pytest.param(b"[" * 900 + b"]" * 900, None, id="deep"),
    ],
)
def test_what_json_means(data: bytes | str, value: object) -> None:
    found = load(data)
    assert found == value or (value is None and isinstance(found, list))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, None, True, "é\U0001f600"]}, id="plain"),
        pytest.param([[[]], 2**64, -(10**30)], id="more than 64 bits"),
        pytest.param(msgspec.json.decode(b"[" * 500 + b"]" * 500), id="deep"),
    ],
)
def test_what_is_written_reads_as_it_was_and_only_json_is(value: object) -> None:
    assert msgspec.json.decode(dump(value)) == value
    with pytest.raises(TypeError):
        dump({"a": object()})
    with pytest.raises(UnicodeEncodeError):
        dump("\ud800")


@given(st.recursive(st.text() | st.integers(-9, 9), st.lists))
def test_json_of_characters_means_the_same(value: object) -> None:
    assert msgspec.json.decode(repair_encoding(msgspec.json.encode(value))) == value


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"\xff'])
@pytest.mark.parametrize(
    ("kept", "of"),
    [(session_state.decode, "session"), (project_state.decode, "project")],
    ids=["state", "story"],
)
def test_what_is_damaged_is_shown_with_the_way_out(kept: object, of: str, data: bytes) -> None:
    assert callable(kept)
    with pytest.raises(StoreUnavailable, match=f"remembered of a {of}") as refused:
        kept(data)
    assert "observer doctor --rebuild" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'["\xed\xf4"]', b"\xff", "\ud800", b"[1]", b"[" * 100_000],
    ids=lambda data: repr(data)[:12],
)
def test_json_of_any_origin_is_refused_by_one_error(data: bytes | str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_json(data, list[str])


ANY_TEXT = st.text(st.characters(), max_size=300)


@given(ANY_TEXT, st.integers(2, 50))
def test_one_line_and_a_block_are_short_and_can_be_stored(text: str, limit: int) -> None:
    line, block = wording.one_line(text, limit), wording.block(text, limit)
    assert max(len(line), len(block)) <= limit
    assert line.isprintable()
    once = wording.one_line(text, 80)
    assert wording.one_line(once, 80) == once
    assert "\0" not in block
    (line + block).encode()


def test_an_extra_is_installed_where_this_runs() -> None:
    python, *words = shlex.split(wording.extra_hint("tui"))
    assert (python, words) == (sys.executable, ["-m", "pip", "install", "observer-memory[tui]"])


@pytest.mark.parametrize("sign", ["\u200b", "\x00", "\u00ad", "\x1b"])
def test_what_an_invisible_sign_held_apart_does_not_come_together(sign: str) -> None:
    """Nobody knew it for a secret while it was in two parts."""
    for shown in (wording.one_line(f"AK{sign}IA", 99), wording.block(f"AK{sign}IA\n", 99)):
        assert shown == "AK IA"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", id="persian"),
        pytest.param("\u0915\u094d\u200d\u0937", id="hindi"),
        pytest.param("\U0001f469\u200d\U0001f4bb", id="emoji"),
    ],
)
def test_a_block_keeps_the_joiners_of_a_word(text: str) -> None:
    assert wording.block(f"{text} a\u200db", 20) == f"{text} a b"


SHOWN = [
    (wording.one_line("abcdef", 4), "abc…"),
    (wording.block("abcdef", 4), "abc…"),
    (wording.block(" a\n\tb\x07 ", 10), "a\n\tb"),
    (wording.first_line("\n\n## Plan\nmore", 20), "Plan"),
    (wording.first_line("***\nwords", 20), "words"),
    (wording.first_line("  \n ", 20), ""),
    (wording.counted(1, "line"), "1 line"),
    (wording.counted(0, "line"), "0 lines"),
    (wording.counted(1024, "line"), "1,024 lines"),
    (wording.listed([]), ""),
    (wording.listed(["a"]), "a"),
    (wording.listed(["a", "b"]), "a and b"),
    (wording.listed(["a", "b", "c", "d", "e"]), "a, b, c and 2 more"),
    (wording.base_name("a/b.py"), "b.py"),
    (wording.base_name("b.py"), "b.py"),
    (wording.base_name("a/b/"), "b"),
    (wording.base_name("/"), "/"),
    *((wording.named(name), name) for name in ("main", "feat/rate-limits-of-the-api", "päivä.md")),
    *(
        (wording.named(name), f'"{name}"')
        for name in (
            "docs/send the logs.md",
            "send-the-logs-of-the-last-run-first",
            "a/send_the_logs_to_x_y_z.py",
        )
    ),
    # Inside of the root, beside it, relative to the working folder, of a home, of Windows.
    (wording.relative("/p/src/a.py", "/p"), "src/a.py"),
    (wording.relative("/p/src/a.py", "/p/"), "src/a.py"),
    (wording.relative("/pq/a.py", "/p"), "/pq/a.py"),
    (wording.relative("/p/x/../a.py", "/p"), "a.py"),
    (wording.relative("./a.py", "/p"), "a.py"),
    (wording.relative("a.py", "/p", "/p/api"), "api/a.py"),
    (wording.relative("~/a.py", "/p", "/p"), "~/a.py"),
    (wording.relative(r"C:\W\Shop\src\a.ts", r"c:\w\shop"), "src/a.ts"),
    (wording.relative(r"src\a.ts", "/p"), "src/a.ts"),
    (wording.relative("/p", "/p"), "/p"),
    (wording.relative("/p/\ud800\n.py", "/p"), ".py"),
    (wording.relative("/P/a", "/p"), "/P/a"),
]


def test_texts_counts_lists_and_paths_read_as_a_person_says_them() -> None:
    assert [shown for shown, _ in SHOWN] == [said for _, said in SHOWN]


@given(ANY_TEXT)
def test_a_quotation_is_short_and_ends_where_it_ends(text: str) -> None:
    shown = wording.quoted(text)
    assert shown[0] == shown[-1] == '"'
    assert '"' not in shown[1:-1]
    assert len(shown) <= wording.NAME_CHARS + 2


TIMES = st.integers(min_value=0, max_value=(1 << 48) - 1)


def test_unknown_fields_of_a_newer_log_are_ignored() -> None:
    text = b'{"id":"e","at_ms":1,"client":"c","new":2,"body":{"kind":"prompt","text":"t","new":3}}'
    expected = Event(id="e", at_ms=1, client="c", body=Prompt(text="t"))
    assert msgspec.json.decode(text, type=Event) == expected


@given(one=st.text(max_size=9), other=st.text(max_size=9), at_ms=TIMES)
def test_a_uuid_is_version_7_and_follows_from_event_and_time(
    one: str, other: str, at_ms: int
) -> None:
    one, other = one.encode("utf-8", "replace").decode(), other.encode("utf-8", "replace").decode()
    made = uuid.UUID(item_uuid(one, at_ms))
    assert (made.version, made.variant, made.int >> 80) == (7, uuid.RFC_4122, at_ms)
    assert (item_uuid(one, 5) == item_uuid(other, 5)) is (one == other)


def test_every_error_tells_scripts_what_it_is_and_people_what_to_do() -> None:
    assert str(NotFound("no project", hint="list them")) == "no project (list them)"
    assert str(NotFound("no project")) == "no project"
    children = [each for each in vars(errors).values() if isinstance(each, type)]
    for child in children:
        if child is not ObserverError:
            assert issubclass(child, ObserverError)
            assert child.exit_code > 1
            assert child.code != ObserverError.code
            assert child.__doc__


def test_a_time_without_a_zone_is_utc() -> None:
    times = {
        "1970-01-01T00:00:01Z": 1_000,
        "1970-01-01T01:00:00.5+01:00": 500,
        "1970-01-02": 86_400_000,
        "1969-12-31T23:59:59": -1_000,
        "9999-12-31T23:59:59.999Z": LAST_MS,
        "": None,
        "yesterday": None,
        "2026-02-30": None,
    }
    assert {text: iso_ms(text) for text in times} == times


TEXT = "two Words, one more"


def test_a_lazy_pattern_finds_what_a_compiled_one_does_once_it_is_used() -> None:
    flags = re.IGNORECASE
    lazy, eager = (make(r"(?P<word>w\w+)|ONE", flags) for make in (lazy_pattern, re.compile))
    for _ in range(2):
        assert lazy.sub("-", TEXT) == eager.sub("-", TEXT) == "t- -, - more"
        assert [match["word"] for match in lazy.finditer(TEXT)] == ["wo", "Words", None]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (eager.pattern, eager.flags, eager.groups)
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search(TEXT)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("one", [("", "one")]),
        ({"a": ["one", {"b": "two"}], "c": 3}, [("a", "one"), ("b", "two")]),
        (({"a": ""}, None, ("two",)), [("a", ""), ("", "two")]),
    ],
)
def test_strings_stand_behind_the_name_of_their_field(
    value: object, found: list[tuple[str, str]]
) -> None:
    assert list(strings(value)) == found
    named = [text for _, text in strings({"a": [{"b": 1}], "c": "d"}, names=True)]
    assert named == ["a", "b", "c", "d"]
