"""A time is never shown without its zone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextvars import copy_context

import pytest

from observer.front import moment

AT_MS = 1_742_050_800_000


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_kolkata")
def test_agents_are_shown_utc_and_people_their_own_time() -> None:
    def on_a_terminal() -> str:
        moment.show_local()
        return moment.minute(AT_MS)

    assert moment.minute(AT_MS) == "2025-03-15 15:00Z"
    assert copy_context().run(on_a_terminal) == "2025-03-15 20:30 +05:30"
