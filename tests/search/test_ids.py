from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from observer.search.overview import Ids, ascending, common, joined, without

some = st.lists(st.integers(-5, 30), max_size=20, unique=True).map(lambda ids: np.array(ids, int))


@given(some, some)
def test_it_agrees_with_sets(one: Ids, other: Ids) -> None:
    ids, known = ascending(one), set(one.tolist())
    assert common(ids, other).tolist() == [each for each in other.tolist() if each in known]
    assert without(ids, other).tolist() == sorted(known - set(other.tolist()))
    assert joined(ids, other).tolist() == sorted(known | set(other.tolist()))
