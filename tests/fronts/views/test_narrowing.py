"""What people and models write to narrow a search."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from observer.core.errors import BadInput
from observer.core.moment import coming_ms, moment_ms, show_local
from observer.tools.parse_filters import parse_filters

NOW_MS = 1_800_000_000_000
NOON_MS = 1_795_435_200_000
"""2026-11-23, 12:00 UTC."""


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        pytest.param(" ", None, id="nothing"),
        pytest.param("2 h", NOW_MS - 7_200_000, id="ago"),
        pytest.param("1w", NOW_MS - 604_800_000, id="weeks-ago"),
        pytest.param("2026-11-23T12:00", NOON_MS, id="utc-where-none-is-named"),
        pytest.param("2026-11-23T12:00:00.000Z", NOON_MS, id="utc"),
        pytest.param("2026-11-23 17:30+05:30", NOON_MS, id="another-zone"),
        pytest.param("2026-11-23", NOON_MS - 43_200_000, id="day"),
    ],
)
def test_a_time_is_read_as_written(text: str, at_ms: int | None) -> None:
    assert moment_ms(text, now_ms=NOW_MS) == at_ms


@pytest.mark.usefixtures("in_kolkata")
def test_a_person_means_the_times_that_a_person_is_shown() -> None:
    def on_a_terminal(text: str) -> int | None:
        show_local()
        return moment_ms(text, now_ms=NOW_MS)

    for text in ("2026-11-23 17:30", "2026-11-23T12:00Z"):
        assert copy_context().run(on_a_terminal, text) == NOON_MS
    with pytest.raises(BadInput, match="is not a time"):
        copy_context().run(on_a_terminal, "0001-01-01")


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "1y", "-1d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a time"):
        parse_filters(since=text, now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("text", "at_ms"), [("", None), ("2h", NOW_MS + 7_200_000), ("2027-02-01", 1_801_440_000_000)]
)
def test_a_time_to_come_is_counted_from_now(text: str, at_ms: int | None) -> None:
    assert coming_ms(text, now_ms=NOW_MS) == at_ms


@pytest.mark.parametrize("text", ["2026-01-01", "0d"])
def test_a_time_to_come_is_not_over(text: str) -> None:
    with pytest.raises(BadInput, match="is in the past"):
        coming_ms(text, now_ms=NOW_MS)


def test_what_stands_for_everything_does_not_restrict() -> None:
    wanted = parse_filters(
        files=("/", ".", "./", " ", ".env", "src/"), type=" fix,, ", now_ms=NOW_MS
    )
    assert (wanted.files, wanted.types) == ((".env", "src/"), ("fix",))


@pytest.mark.parametrize("until", ["2026-11-22", "2026-11-21", "2026-11-23T01:00+02:00"])
def test_a_span_without_time_is_refused_rather_than_nothing_found(until: str) -> None:
    with pytest.raises(BadInput, match=r"since 2026-11-23 is not before until 2026-11-2"):
        parse_filters(since="2026-11-23", until=until, now_ms=NOW_MS)
    assert parse_filters(since="2026-11-23", until="2026-11-24", now_ms=NOW_MS).until_ms


def test_a_type_is_known_in_capitals_too() -> None:
    assert parse_filters(type="Commit, FILE-WRITE", now_ms=NOW_MS).types == ("commit", "file-write")


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("auth.py:34", "auth.py"),
        ("src/auth.py:34:5", "src/auth.py"),
        ("auth.py:34-40", "auth.py"),
        ("file:///src/a%20b.py:3", "/src/a b.py"),
        ("file:///c%3A/src/a.py:3", "/mnt/c/src/a.py"),
        (r"C:\src\a.py:3", "/mnt/c/src/a.py"),
        ("a:b.py", "a:b.py"),
    ],
)
def test_a_place_in_a_file_names_the_file(named: str, file: str) -> None:
    assert parse_filters(files=[named], now_ms=NOW_MS).files == (file,)


def test_a_pattern_is_refused_rather_than_nothing_found() -> None:
    assert parse_filters(files=["pages/[id].tsx"], now_ms=NOW_MS).files == ("pages/[id].tsx",)
    with pytest.raises(BadInput, match=r"'src/\*\.py' is a pattern"):
        parse_filters(files=["a.py", "src/*.py"], now_ms=NOW_MS)
