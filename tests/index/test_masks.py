from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.filters import Filters
from observer.core.model import Item, ItemChange
from observer.index.segment import segment
from observer.index.tokens import Codes
from observer.index.view import KEPT, mask

Make = Callable[..., Any]
KINDS = st.sampled_from(["observation", "summary", "note", "inference"])
NAMES = st.sampled_from(["", "a", "b", "é"])
PROJECTS = st.sampled_from([None, 1, 2])
SESSIONS = st.sampled_from([None, 1, 2])
TIMES = st.integers(0, 5)

FIELDS = st.fixed_dictionaries(
    {
        "kind": KINDS,
        "type": st.sampled_from(["command", "decision"]),
        "category": NAMES,
        "branch": NAMES,
        "owner": NAMES,
        "scope": st.sampled_from(["project", "personal", "team"]),
        "project_id": PROJECTS,
        "session_id": SESSIONS,
        "created_ms": TIMES,
    }
)
FILTERS = st.builds(
    Filters,
    project_id=PROJECTS,
    kinds=st.lists(KINDS, max_size=2).map(tuple),
    types=st.lists(st.sampled_from(["command", "decision"]), max_size=2).map(tuple),
    categories=st.lists(NAMES.filter(bool), max_size=2).map(tuple),
    branch=NAMES,
    session_id=SESSIONS,
    since_ms=st.none() | TIMES,
    until_ms=st.none() | TIMES,
    owner=NAMES,
    with_global=st.booleans(),
    without=st.lists(st.sampled_from([1, 2, 3]), max_size=2, unique=True).map(tuple),
)


def rows(codes: Codes, *items: Item | None) -> Any:
    changes = [ItemChange(change=n, id=4 * n, item=item) for n, item in enumerate(items, start=1)]
    return segment(changes, codes, model="m", dimensions=8, mean_length=0.0)


@given(st.lists(FIELDS, min_size=1, max_size=8), FILTERS)
def test_a_mask_agrees_with_what_filters_admit(
    an_item: Make, codes: Codes, fields: list[dict[str, Any]], filters: Filters
) -> None:
    items = [an_item(n, **each) for n, each in enumerate(fields, start=1)]
    assert mask(rows(codes, *items), filters).tolist() == [filters.admits(item) for item in items]


def test_the_gone_and_the_buried_are_not_seen(an_item: Make, codes: Codes) -> None:
    one = rows(codes, an_item(1), None, an_item(3), an_item(4))
    one.mark_deleted(np.array([4, 99], np.int64))
    assert mask(one, Filters()).tolist() == [False, False, True, True]


def test_a_mask_that_was_kept_forgets_what_was_buried_since(an_item: Make, codes: Codes) -> None:
    one = rows(codes, an_item(1), an_item(2))
    assert mask(one, Filters()).tolist() == [True, True]
    one.mark_deleted(np.array([8], np.int64))
    assert mask(one, Filters()).tolist() == [True, False]


def test_few_masks_are_kept_however_many_are_asked_for(an_item: Make, codes: Codes) -> None:
    one = rows(codes, an_item(1), an_item(2))
    for _ in range(2):
        for since_ms in range(3 * KEPT):
            seen = mask(one, Filters(since_ms=since_ms))
            assert seen.tolist() == [since_ms <= 1, since_ms <= 2]
            assert mask(one, Filters(since_ms=since_ms, files=("a.py",), tags=("x",))) is seen
    assert len(one.masks) == KEPT


@pytest.mark.parametrize("among", [(), (12,), (4, 16, 99), (8,)])
def test_only_rows_among_the_items_named_are_seen(
    an_item: Make, codes: Codes, among: tuple[int, ...]
) -> None:
    one = rows(codes, an_item(1), None, an_item(3), an_item(4))
    seen = mask(one, Filters(), np.array(among, np.int64))
    assert one.ids[seen].tolist() == [each for each in among if each in {4, 12, 16}]


def test_files_are_not_looked_at(an_item: Make, codes: Codes) -> None:
    assert mask(rows(codes, an_item(1)), Filters(files=("a.ts",))).tolist() == [True]
