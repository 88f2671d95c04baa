from __future__ import annotations

import ctypes

import pytest

from observer.daemon.heap import give_memory_back


class Libc:
    """A C library whose `malloc_trim` tells that it was called, or that has none."""

    def __init__(self, *, has_trim: bool) -> None:
        self.asked: list[int] = []
        if has_trim:
            self.malloc_trim = self.asked.append


@pytest.mark.parametrize(("has_trim", "asked"), [(True, [0]), (False, [])])
def test_the_allocator_is_asked_where_it_can_be(
    monkeypatch: pytest.MonkeyPatch, has_trim: bool, asked: list[int]
) -> None:
    libc = Libc(has_trim=has_trim)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: libc)
    give_memory_back()
    assert libc.asked == asked
