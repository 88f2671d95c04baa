"""Fitting: an event's text never exceeds the cap, keeps head and tail, and says what was cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

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
from observer.ingest.decode import cut, cut_texts, truncate

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
    assert size(truncate(event(body), cap_bytes)) <= cap_bytes


@given(BODIES, CAPS)
def test_fitting_is_idempotent(body: AnyBody, cap_bytes: int) -> None:
    fitted = truncate(event(body), cap_bytes)
    assert truncate(fitted, cap_bytes) == fitted


@given(BODIES)
def test_what_fits_is_left_alone(body: AnyBody) -> None:
    original = event(body)
    assert truncate(original, 1 << 30) is original


def test_text_that_fits_is_left_alone_however_its_json_swells() -> None:
    original = event(Prompt(text='"' * 900))
    assert truncate(original, LEAST_CAP_BYTES) is original


def test_short_texts_stay_whole_beside_a_long_one() -> None:
    body = Command(command="make test", output="x" * 100_000, description="Run the tests")
    fitted = truncate(event(body), 5000).body
    assert isinstance(fitted, Command)
    assert (fitted.command, fitted.description) == ("make test", "Run the tests")


def test_two_long_texts_share_the_room() -> None:
    fitted = truncate(event(Custom(name="a" * 9000, text="b" * 90_000)), 4000).body
    assert isinstance(fitted, Custom)
    assert abs(len(fitted.name) - len(fitted.text)) < 10


def test_names_are_never_cut() -> None:
    fitted = truncate(event(Prompt(text="x" * 100_000)), LEAST_CAP_BYTES)
    assert (fitted.id, fitted.session) == ("e1", "s" * 60)


def test_a_long_folder_is_cut_too() -> None:
    assert (
        size(truncate(event(Prompt(text="a"), cwd="/d" * 9000), LEAST_CAP_BYTES)) <= LEAST_CAP_BYTES
    )


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


def test_a_million_empty_elements_are_too_many() -> None:
    fitted = truncate(event(FileRead(paths=("",) * 1_000_000)), 8192).body
    assert isinstance(fitted, FileRead)
    assert len(fitted.paths) < 100


def test_the_symbols_of_one_file_leave_room_for_the_next_file() -> None:
    change = FileChange(path="p", symbols=("function_" * 9,) * 500)
    fitted = truncate(event(Commit(hash="1", files=(change,) * 20)), 65_536).body
    assert isinstance(fitted, Commit)
    assert len(fitted.files) == 20


@given(TEXTS, st.integers(min_value=16, max_value=6000))
def test_a_cut_text_is_never_longer_than_its_limit(text: str, limit_bytes: int) -> None:
    assert len(cut(text, limit_bytes).encode()) <= limit_bytes


def test_a_cut_keeps_head_and_tail_and_says_how_much_is_gone() -> None:
    assert cut("a" * 5000 + "b" * 5000, 131) == "a" * 50 + "[… 9,900 characters cut …]" + "b" * 50


def test_a_second_cut_counts_the_first() -> None:
    once = cut("x" * 10_000, 4000)
    twice = cut(once, 1000)
    kept = len(re.sub(r"\[….*?…\]", "", twice))
    assert f"[… {10_000 - kept:,} characters cut …]" in twice


def test_letters_of_several_bytes_are_never_halved() -> None:
    assert "\ufffd" not in cut("ä€😀" * 3000, 1001)


def test_room_for_less_than_the_words_leaves_an_ellipsis() -> None:
    assert cut("x" * 100, 20) == "x" * 17 + "…"


def trimmed(text: str) -> str:
    body = cut_texts(event(Prompt(text=text)), 100).body
    assert isinstance(body, Prompt)
    return body.text


def test_trimming_leaves_texts_within_the_limit_alone() -> None:
    assert trimmed("x" * 100) == "x" * 100


def test_trimming_keeps_head_and_tail() -> None:
    assert (
        trimmed("h" * 50 + "x" * 1000 + "t" * 50)
        == "h" * 50 + "[… 1,000 characters cut …]" + "t" * 50
    )


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
