"""Whatever reads bytes of others returns for any bytes, soon; `scripts/fuzz.py` tries many."""

from __future__ import annotations

import random
import time

import pytest
from faults.mutation import mutated
from faults.targets import TARGETS
from hypothesis import given
from hypothesis import strategies as st

MOST_CPU_S = 10.0
"""Of one input of a few kilobytes, which takes milliseconds: no more than a guard against hangs."""


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_survived(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()

    @given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(_encoded), near(seeds)))
    def check(data: bytes) -> None:
        began = time.process_time()
        target.run(data)
        assert time.process_time() - began < MOST_CPU_S

    check()


def near(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes that can be read, a little changed."""
    return st.builds(
        lambda seed, number: mutated(seed, seeds, random.Random(number)),
        st.sampled_from(seeds),
        st.integers(0, 1 << 30),
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
