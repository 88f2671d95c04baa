"""Whatever reads bytes of others returns for any bytes, soon; `scripts/fuzz.py` tries many."""

from __future__ import annotations

import random

import pytest
from faults.mutation import mutated
from faults.targets import TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_survived(name: str) -> None:
    target = TARGETS[name]
    seeds, survived = target.seeds(), []

    @settings(max_examples=12)
    @given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(_encoded), near(seeds)))
    def check(data: bytes) -> None:
        target.run(data)  # it raises what breaks its promise
        survived.append(data)

    check()
    assert survived


def near(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes that can be read, a little changed."""
    return st.builds(
        lambda seed, number: mutated(seed, seeds, random.Random(number)),
        st.sampled_from(seeds),
        st.integers(0, 1 << 30),
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
