"""Whatever a model answers becomes a value with bounds, or a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput
from observer.core.events import Enriched
from observer.core.model import Item
from observer.llm.reply import enriched

ITEM = Item(id=6, uuid="u", kind="summary", type="summary", title="t", updated_ms=7)
GOOD = '{"narrative": "It raced.", "learned": "Lock.", "concepts": ["race", "lock"]}'


def read(text: str) -> Enriched:
    return enriched(ITEM, text, model="tiny")


def test_an_answer_is_about_the_item_as_it_was() -> None:
    assert read(GOOD) == Enriched(
        item=6,
        model="tiny",
        as_of_ms=7,
        narrative="It raced.",
        learned="Lock.",
        concepts=("race", "lock"),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(f"Sure! Here it is: {GOOD} Anything else?", id="talkative"),
        pytest.param(f"<think>{{so}} what</think>\n{GOOD}", id="thoughtful"),
        pytest.param(GOOD.replace("{", '{"mood": 1, ', 1), id="with more"),
        pytest.param(GOOD.replace('["race", "lock"]', '"race, lock"'), id="list as text"),
        pytest.param(GOOD.replace('"Lock."', '["Lock."]'), id="text as list"),
        pytest.param(GOOD.replace("}", ', "next_steps": null}'), id="null"),
    ],
)
def test_what_models_put_around_it_does_not_matter(text: str) -> None:
    assert read(text) == read(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("no", id="prose"),
        pytest.param("}{", id="backwards"),
        pytest.param('{"narrative": ', id="broken"),
        pytest.param("{}", id="no narrative"),
        pytest.param('{"narrative": "  "}', id="blank"),
        pytest.param('{"narrative": {"text": "x"}}', id="nested"),
        pytest.param('{"narrative": "x", "concepts": [1]}', id="numbers"),
        pytest.param(json.dumps({"narrative": "x" * 4001}), id="too long"),
        pytest.param(json.dumps({"narrative": "x", "concepts": ["y"] * 51}), id="too many"),
        pytest.param('{"narrative": ' + "[" * 100_000 + "}", id="deep"),
        pytest.param('{"narrative": "\ud800"}', id="lone surrogate"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    st.sampled_from(["narrative", "learned", "next_steps", "concepts", "else"]), JSON
)


@given(st.one_of(st.text(max_size=300), FIELDS.map(json.dumps), JSON.map(json.dumps)))
def test_no_answer_breaks_it(text: str) -> None:
    try:
        made: Any = read(text)
    except BadInput:
        return
    assert made.narrative
