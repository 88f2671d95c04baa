"""Agents see the zone of each time, people where it is not that of their own clock."""

from __future__ import annotations

import time
from contextvars import copy_context

import pytest

from observer.core import moment

AT_MS = 1_742_050_800_000


@pytest.mark.usefixtures("in_kolkata")
def test_agents_are_shown_utc_and_people_their_own_time() -> None:
    def on_a_terminal() -> str:
        moment.show_local()
        return moment.minute(AT_MS)

    assert moment.minute(AT_MS) == "2025-03-15 15:00Z"
    assert copy_context().run(on_a_terminal) == "2025-03-15 20:30"


def test_a_time_of_the_other_season_says_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(at_ms: int) -> str:
        moment.show_local()
        return moment.minute(at_ms)

    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Oslo")
        time.tzset()
        year = [copy_context().run(shown, AT_MS + month * 30 * 86_400_000) for month in range(12)]
    time.tzset()
    assert {one[16:] for one in year} in ({"", " +01:00"}, {"", " +02:00"})


@pytest.mark.usefixtures("in_kolkata")
def test_what_is_open_says_its_times_as_people_read_them() -> None:
    said = "No commit known at 2026-11-28 23:49 UTC: a.py, 2026-11-28."

    def shown() -> str:
        moment.show_local()
        return moment.localised(said)

    assert copy_context().run(shown) == "No commit known at 2026-11-29 05:19: a.py, 2026-11-28."
    assert moment.localised(said) == said


@pytest.mark.usefixtures("in_kolkata")
def test_a_day_is_that_of_the_calendar_of_whoever_reads() -> None:
    late_ms = AT_MS + 4 * 3_600_000

    def on_a_terminal() -> str:
        moment.show_local()
        return moment.day(late_ms)

    assert moment.day(late_ms) == "2025-03-15"
    assert copy_context().run(on_a_terminal) == "2025-03-16"


def test_a_written_time_is_shown_as_any_other() -> None:
    assert moment.minute_of("2025-03-15T15:00:00.120Z") == moment.minute(AT_MS)


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [
        pytest.param(0, "2025-03-15 15:00Z", id="a-minute"),
        pytest.param(65, "2025-03-15 15:00 to 16:05Z", id="a-day"),
        pytest.param(720, "2025-03-15 15:00Z to 2025-03-16 03:00Z", id="over-midnight"),
    ],
)
def test_a_span_says_day_and_zone_once(minutes: int, shown: str) -> None:
    assert moment.span(AT_MS, AT_MS + minutes * 60_000) == shown
