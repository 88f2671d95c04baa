"""What a language model wrote is shown as that, and `observer note draft --reword` asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.errors import BadInput
from observer.core.model import Enrichment, Item, SummaryFields
from observer.llm import prompt, reply
from observer.tools import render, rows
from observer.tools.labels import Written

Observer = Callable[..., Any]


def test_lines_are_sent_redacted_and_come_back_in_their_order() -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    asked = prompt.of_lines(["one", f"two\n{key} </data>"])
    assert "1. one\n2. two " in asked.quoted
    assert key not in asked.quoted
    assert asked.quoted.count("</data>") == 1
    assert reply.lines('so: {"lines": ["a", "b"]}', 2) == ("a", "b")
    for answer in ('{"lines": ["a"]}', '{"lines": "a"}', "no"):
        with pytest.raises(BadInput):
            reply.lines(answer, 2)


@pytest.mark.slow
def test_a_draft_is_worded_anew_line_by_line(
    within: Observer,
    model: Any,
    complete: Any,
    answered: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for text, *more in (
        ("marmalade jobs in SQLite since 2024",),
        ("marmalade backups each 3 hours",),
        ("marmalade is what I like", "--scope", "personal"),
    ):
        assert within("remember", text, "--type", "decision", *more).returncode == 0
    refused = within("note", "draft", "marmalade", "--reword")
    assert (refused.returncode, "llm_url" in refused.stderr) == (2, True)
    monkeypatch.setenv("OBSERVER_LLM_URL", model.url)
    monkeypatch.setenv("OBSERVER_LLM_MODEL", "tiny")
    plain = within("note", "draft", "marmalade").stdout
    model.script(complete({"lines": ["The marmalade jobs live in SQLite since 2024.", "4 hours"]}))
    shown = within("note", "draft", "marmalade", "--reword")
    (asked,) = model.asked
    assert "1. marmalade jobs" in asked["messages"][1]["content"]
    assert "what I like" not in json.dumps(asked)
    expected = plain.replace("marmalade jobs in", "The marmalade jobs live in").replace(
        "since 2024 (", "since 2024. ("
    )
    expected = expected.replace("status: draft\n", "status: draft\nreworded_by: tiny\n")
    assert shown.stdout == expected
    assert "tiny worded 1 of 3 lines anew" in shown.stderr
    assert "its numbers are others" in shown.stderr
    for failing in (answered(b"", status=500), complete({"lines": ["only one"]})):
        model.script(failing)
        kept = within("note", "draft", "marmalade", "--reword")
        assert (kept.returncode, kept.stdout) == (0, plain)
        assert "as it was: " in kept.stderr
    assert "leave --reword out" in within("note", "draft", "--skills", "--reword").stderr


WROTE = Enrichment(
    model="tiny",
    at_ms=9_000,
    as_of_ms=60_000,
    narrative="The cart lost its lock.",
    learned="Hold the lock.",
    concepts=("locking", "cart"),
)
PLAIN = Item(
    id=6,
    uuid="u",
    kind="summary",
    type="summary",
    title="Fix the cart",
    narrative="Completed: Changed cart.py.",
    summary=SummaryFields(completed="Changed cart.py."),
    updated_ms=60_000,
)
ITEM = msgspec.structs.replace(PLAIN, enrichment=WROTE)
CHANGED = msgspec.structs.replace(ITEM, updated_ms=60_001)


def nameless(_: int | None) -> str:
    return ""


def test_the_whole_item_has_both_and_marks_what_a_model_wrote() -> None:
    lines = render.detail(ITEM, nameless).splitlines()
    assert "completed: Changed cart.py." in lines
    assert "narrative (by tiny): The cart lost its lock." in lines
    assert "learned (by tiny): Hold the lock." in lines
    assert "concepts (by tiny): locking, cart" in lines


def test_where_the_item_changed_since_the_time_is_shown() -> None:
    assert "narrative (by tiny, as of 1970-01-01 00:01Z): " in render.detail(CHANGED, nameless)


def test_a_pack_has_the_narrative_behind_the_answers() -> None:
    lines = render.pack_summary(ITEM).splitlines()
    assert lines[1:] == [
        "    completed: Changed cart.py.",
        "    narrative (by tiny): The cart lost its lock.",
    ]


def test_a_tool_has_it_in_a_field_of_its_own() -> None:
    shown = rows.observation(ITEM, nameless)
    assert isinstance(shown.written, Written)
    assert (shown.written.by, shown.written.is_outdated) == ("tiny", False)
    assert shown.written.next_steps is None


def test_a_tool_tells_that_the_item_changed_since() -> None:
    written = rows.observation(CHANGED, nameless).written
    assert isinstance(written, Written)
    assert written.is_outdated


def test_without_a_model_nothing_is_different() -> None:
    assert b"written" not in msgspec.json.encode(rows.observation(PLAIN, nameless))
    assert "(by" not in render.detail(PLAIN, nameless) + render.pack_summary(PLAIN)
