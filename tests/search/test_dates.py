"""Time words mean days of the person's own calendar."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.search.dates import dated, day_start_ms

NOON_MS = int(datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp() * 1000)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "days", "rest"),
    [
        ("what did we do today", "2026-11-25", "what did we do"),
        ("login of yesterday", "2026-11-24", "login"),
        ("the login since yesterday", "from 2026-11-24", "the login"),
        ("before yesterday", "until 2026-11-23", ""),
        ("after yesterday", "from 2026-11-25", ""),
        ("until yesterday", "until 2026-11-24", ""),
        ("3 days ago", "2026-11-22", ""),
        ("two weeks ago login", "2026-11-09 to 2026-11-15", "login"),
        ("a month ago", "2026-10-01 to 2026-10-31", ""),
        ("a year ago", "2025-01-01 to 2025-12-31", ""),
        ("in the last 3 days", "2026-11-22 to 2026-11-25", ""),
        ("this week", "2026-11-23 to 2026-11-29", ""),
        ("last week's login", "2026-11-16 to 2026-11-22", "login"),
        ("This Month", "2026-11-01 to 2026-11-30", ""),
        ("last year", "2025-01-01 to 2025-12-31", ""),
        ("last Friday", "2026-11-20", ""),
        ("on Wednesday", "2026-11-25", ""),
        ("last wednesday", "2026-11-18", ""),
        ("decided since Monday", "from 2026-11-23", "decided"),
        ("in March", "2026-03-01 to 2026-03-31", ""),
        ("in december", "2025-12-01 to 2025-12-31", ""),
        ("in November", "2026-11-01 to 2026-11-30", ""),
        ("last November", "2025-11-01 to 2025-11-30", ""),
        ("in March 2024", "2024-03-01 to 2024-03-31", ""),
        ("before March", "until 2026-02-28", ""),
        ("on 2026-11-21", "2026-11-21", ""),
        ("in 2025", "2025-01-01 to 2025-12-31", ""),
    ],
)
def test_time_words_mean_days(text: str, days: str, rest: str) -> None:
    found = dated(text, now_ms=NOON_MS, zone=UTC)
    assert found
    assert (found.days, found.rest) == (days, rest)


@pytest.mark.parametrize(
    "text",
    [
        "may fail",
        "march through the list",
        "the friday job",
        "2025",
        "error on 2026-13-40",
        "yesterdays",
        "pre-yesterday",
        '"last week"',
        "migration 2026-11-21",
        "days ago",
        "",
    ],
)
def test_other_words_do_not(text: str) -> None:
    assert dated(text, now_ms=NOON_MS, zone=UTC) is None


def test_a_day_is_one_of_the_persons_zone() -> None:
    east = timezone(timedelta(hours=13))
    found = dated("today", now_ms=NOON_MS, zone=east)
    assert found
    assert found.days == "2026-11-26"
    assert found.since_ms == int(datetime(2026, 11, 26, tzinfo=east).timestamp() * 1000)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_zone_of_the_machine_is_meant_summer_time_and_all(berlin: None) -> None:
    noon = int(datetime(2026, 10, 25, 12, tzinfo=UTC).timestamp() * 1000)
    found = dated("today", now_ms=noon)
    assert found
    assert found.since_ms is not None
    assert found.until_ms is not None
    assert (found.until_ms - found.since_ms) / 3_600_000 == 25


@given(st.text(max_size=60))
def test_any_text_may_be_read(text: str) -> None:
    found = dated(f"{text} yesterday", now_ms=NOON_MS, zone=UTC)
    assert found is None or found.days


@pytest.mark.parametrize(
    ("ago", "hours_ahead", "expected"),
    [
        pytest.param(0, 0, "2026-11-25T00:00+00:00", id="today"),
        pytest.param(6, 0, "2026-11-19T00:00+00:00", id="six-days-ago"),
        pytest.param(0, 13, "2026-11-26T00:00+13:00", id="tomorrow-is-there-already"),
    ],
)
def test_a_day_begins_at_midnight_where_the_person_is(
    ago: int, hours_ahead: int, expected: str
) -> None:
    zone = timezone(timedelta(hours=hours_ahead))
    began_ms = day_start_ms(now_ms=NOON_MS, ago=ago, zone=zone)
    assert began_ms == datetime.fromisoformat(expected).timestamp() * 1000
