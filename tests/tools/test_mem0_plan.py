"""What is stored without a model, and what an agent decides itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from observer.core.errors import (
    BadInput,
    ConfigInvalid,
    NotFound,
    ObserverError,
    RuleUserOnly,
    SecretRefused,
)
from observer.memory.api import Memory
from observer.memory.values import Extracted
from observer.notes.values import Note
from observer.search.handles import SearchOptions
from observer.tools.mem0 import rows
from observer.tools.mem0.rows import Message, MessagePart, memorable
from observer.tools.mem0.tools import Mem0

Run = Callable[..., Any]
HELLO: list[dict[str, str]] = [{"role": "user", "content": "hello"}]


@pytest.fixture
def run(memory: Memory) -> Run:
    """Call a tool by its name; returns its typed result."""
    tools = {tool.name: tool for tool in Mem0(memory).tools()}
    return lambda name, **arguments: tools[name].call(arguments).result


def texts(run: Run) -> list[str]:
    return [each.memory for each in run("get_all_memories", user_id="bob").results]


def planned(run: Run, *steps: dict[str, str]) -> Any:
    return run("add_memory", messages=HELLO, plan=list(steps), user_id="bob")


@pytest.fixture
def tea(run: Run) -> str:
    """The id of a memory of bob."""
    added = planned(run, {"event": "ADD", "text": "Bob likes tea"})
    return str(added.results[0].id)


USER, AGENT = Message(role="user", content=" I like tea "), Message(role="assistant", content="Ok")
SYSTEM, PICTURE = (
    Message(role="system", content="Be brief"),
    Message(role="user", content=[MessagePart()]),
)


@pytest.mark.parametrize(
    ("messages", "by", "kept"),
    [
        pytest.param([SYSTEM, USER, AGENT], "user", ["I like tea"], id="what the user said"),
        pytest.param([SYSTEM, USER, AGENT], "agent", ["Ok"], id="what the agent said"),
        pytest.param([AGENT], "user", ["Ok"], id="what is there"),
        pytest.param([USER, USER], "user", ["I like tea"] * 2, id="each message"),
        pytest.param([SYSTEM, PICTURE], "user", [], id="no text"),
        pytest.param([Message(role="assistant", content=None)], "agent", [], id="a tool call"),
        pytest.param(
            [
                Message(
                    role="user",
                    content=[MessagePart(text="a"), MessagePart(), MessagePart(text="b")],
                )
            ],
            "user",
            ["a\nb"],
            id="parts",
        ),
    ],
)
def test_the_owners_own_words_are_kept(messages: list[Message], by: Any, kept: list[str]) -> None:
    assert memorable(messages, by=by) == kept


def test_a_plan_is_carried_out_instead_of_the_messages(run: Run, tea: str) -> None:
    shown = planned(
        run,
        {"event": "UPDATE", "id": tea, "text": "Bob likes green tea"},
        {"event": "ADD", "text": "Bob lives in Oslo"},
        {"event": "NOOP", "id": tea},
    )
    assert shown.message == "Added 1 memories for user bob, 1 updated"
    assert [(each.event, each.memory) for each in shown.results] == [
        ("UPDATE", "Bob likes green tea"),
        ("ADD", "Bob lives in Oslo"),
    ]
    assert texts(run) == ["Bob lives in Oslo", "Bob likes green tea"]


def test_a_plan_deletes(run: Run, tea: str) -> None:
    shown = planned(run, {"event": "DELETE", "id": tea})
    assert shown.message == "Added 0 memories for user bob, 1 deleted"
    assert texts(run) == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        pytest.param({"event": "UPDATE", "id": "{tea}", "text": " "}, BadInput, id="no text"),
        pytest.param({"event": "DELETE", "id": "{tea}"}, BadInput, id="twice"),
        pytest.param({"event": "DELETE", "id": "mem_1"}, NotFound, id="no memory"),
        pytest.param(
            {"event": "ADD", "text": "AKIA" + "ABCDEFGHIJKLMNOP"}, SecretRefused, id="a secret"
        ),
        pytest.param({"event": "MERGE"}, BadInput, id="no such event"),
    ],
)
def test_of_a_plan_that_cannot_be_carried_out_nothing_is(
    run: Run, tea: str, wrong: dict[str, str], error: type[ObserverError]
) -> None:
    wrong = {name: text.format(tea=tea) for name, text in wrong.items()}
    with pytest.raises(error):
        planned(run, {"event": "UPDATE", "id": tea, "text": "Bob likes mate"}, wrong)
    assert texts(run) == ["Bob likes tea"]


def test_a_plan_deletes_no_rule_that_a_person_approved(run: Run, memory: Memory) -> None:
    notes = memory.of("bob").notes
    rule = notes.remember(Note(content="Never push", type="rule", scope="personal")).item
    notes.approve(rule.id, author="person")
    with pytest.raises(RuleUserOnly):
        planned(run, {"event": "DELETE", "id": rows.memory_id(rule)})
    assert texts(run) == ["Never push"]


def test_what_says_nearly_the_same_is_named(run: Run, tea: str) -> None:
    shown = planned(run, {"event": "ADD", "text": "Bob likes tea!"})
    assert [(each.id, each.memory) for each in shown.near] == [(tea, "Bob likes tea")]


def test_a_language_model_words_what_is_kept(memory: Memory) -> None:
    heard: list[Sequence[str]] = []

    def extract(said: Sequence[str]) -> Extracted:
        heard.append(said)
        return Extracted(facts=("The user lives in Oslo.",), model="tiny")

    memory.extract = extract
    add = Mem0(memory).tools()[0]
    messages = [{"role": "user", "content": "I moved"}, {"role": "assistant", "content": "Where?"}]
    shown = add.call({"messages": messages, "user_id": "bob", "infer": True}).result
    assert heard == [["user: I moved", "assistant: Where?"]]
    assert [each.memory for each in shown.results] == ["The user lives in Oslo."]
    (item,) = memory.of("bob").notes.list(narrow=SearchOptions(scope="personal"))
    assert item.metadata == '{"inferred_by":"tiny"}'


def test_without_a_language_model_nothing_is_inferred(run: Run) -> None:
    with pytest.raises(ConfigInvalid, match="no language model is configured"):
        run("add_memory", messages=HELLO, user_id="bob", infer=True)
    assert texts(run) == []


def test_a_plan_touches_no_note_that_all_share(run: Run, memory: Memory) -> None:
    shared = next(item for item in memory.notes.list() if item.scope == "project")
    with pytest.raises(NotFound, match="Memory not found"):
        planned(run, {"event": "DELETE", "id": rows.memory_id(shared)})
    assert memory.notes.get(shared.id) == shared
