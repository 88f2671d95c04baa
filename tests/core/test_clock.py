"""Times in ISO 8601 are read as the one clock counts them."""

from __future__ import annotations

import pytest

from observer.core.clock import LAST_MS, iso_ms


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
