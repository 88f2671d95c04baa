"""Whose memories are whose: users, agents, agents for users, and ids that nobody was shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.model import Item
from observer.memory.api import Memory
from observer.observations.note_reducer import tags_of
from observer.search.owners import Owner, owner_of
from observer.tools.mem0 import rows
from observer.tools.mem0.tools import Mem0

Run = Callable[..., Any]


@pytest.fixture
def run(memory: Memory) -> Run:
    """Call a tool by its name; returns its typed result."""
    tools = {tool.name: tool for tool in Mem0(memory).tools()}
    return lambda name, **arguments: tools[name].call(arguments).result


def add(run: Run, *contents: str, **whose: Any) -> list[str]:
    messages = [{"role": "user", "content": content} for content in contents]
    return [each.id for each in run("add_memory", messages=messages, **whose).results]


def texts(run: Run, **whose: Any) -> list[str]:
    return [each.memory for each in run("get_all_memories", **whose).results]


def test_a_user_and_an_agent_of_one_name_are_two(run: Run) -> None:
    add(run, "of the user", user_id="x")
    add(run, "of the agent", agent_id="x")
    assert texts(run, user_id="x") == ["of the user"]
    assert texts(run, agent_id="x") == ["of the agent"]


@pytest.mark.parametrize("tool", ["get_memory", "update_memory", "delete_memory"])
def test_what_another_agent_shown_is_not_what_is_meant(run: Run, tool: str) -> None:
    (shown,) = add(run, "tabs", user_id="ana", agent_id="coder")
    given = {"memory_id": shown, "user_id": "ana"} | ({"data": "x"} if "update" in tool else {})
    with pytest.raises(NotFound):
        run(tool, agent_id="other", **given)
    assert texts(run, user_id="ana") == ["tabs"]
    assert run(tool, agent_id="coder", **given)


def test_an_agent_narrows_the_memories_of_a_user(run: Run) -> None:
    add(run, "tabs", user_id="ana", agent_id="coder")
    add(run, "tea", user_id="ana")
    assert texts(run, user_id="ana", agent_id="coder") == ["tabs"]
    assert texts(run, user_id="ana") == ["tea", "tabs"]


def test_an_agent_alone_is_all_of_it_whoever_the_user(run: Run) -> None:
    add(run, "tabs", user_id="ana", agent_id="coder")
    (bobs,) = add(run, "spaces", user_id="bob", agent_id="coder")
    add(run, "short answers", agent_id="coder")
    add(run, "tea", user_id="ana")
    assert texts(run, agent_id="coder") == ["short answers", "spaces", "tabs"]
    found = run("search_memories", query="spaces", agent_id="coder").results
    assert [(each.id, each.user_id) for each in found] == [(bobs, "bob")]
    assert run("get_memory", memory_id=bobs, agent_id="coder").user_id == "bob"
    assert run("delete_all_memories", agent_id="coder").count == 3
    assert (texts(run, user_id="ana"), texts(run, user_id="bob")) == (["tea"], [])


def test_an_agent_without_memories_has_none(run: Run) -> None:
    add(run, "tabs", user_id="ana", agent_id="coder")
    assert texts(run, agent_id="code") == texts(run, agent_id="user") == []
    assert run("search_memories", query="tabs", agent_id="code").results == []


def test_deleting_what_an_agent_shown_leaves_the_rest_of_the_user(run: Run) -> None:
    add(run, "tabs", user_id="ana", agent_id="coder")
    add(run, "tea", user_id="ana")
    assert run("delete_all_memories", user_id="ana", agent_id="coder").count == 1
    assert texts(run, user_id="ana") == ["tea"]


def test_nobody_named_is_the_person_at_this_machine(run: Run, memory: Memory) -> None:
    add(run, "I like tea")
    assert [item.narrative for item in memory.notes.list()][:1] == ["I like tea"]
    assert texts(run, user_id=memory.owner) == ["I like tea"]
    (found,) = run("search_memories", query="tea").results
    assert found.user_id == memory.owner


def test_what_all_of_a_project_share_is_nobodys_memory(run: Run, memory: Memory) -> None:
    shared = next(item for item in memory.notes.list() if item.scope == "project")
    assert run("search_memories", query="JWT").results == []
    for name, more in (("get_memory", {}), ("delete_memory", {}), ("update_memory", {"data": "x"})):
        with pytest.raises(NotFound):
            run(name, memory_id=rows.memory_id(shared), **more)
    assert memory.notes.get(shared.id) == shared


def test_an_id_is_refused_to_another_user_who_says_so(run: Run) -> None:
    (identifier,) = add(run, "tea", user_id="bob")
    for whose in ({"user_id": "eve"}, {"agent_id": "bob"}):
        with pytest.raises(NotFound, match="Memory not found"):
            run("delete_memory", memory_id=identifier, **whose)
    assert run("get_memory", memory_id=identifier, user_id="bob").memory == "tea"


@pytest.mark.parametrize("form", [str, str.upper, lambda i: i[4:], lambda i: f" {i} "])
def test_an_id_is_known_in_every_form_of_a_uuid(run: Run, form: Callable[[str], str]) -> None:
    (identifier,) = add(run, "tea", user_id="bob")
    assert run("get_memory", memory_id=form(identifier)).id == identifier


def test_the_same_words_are_stored_once_for_each_owner(run: Run) -> None:
    first, again = add(run, "tea", user_id="bob"), add(run, "tea", user_id="bob")
    assert first == again != add(run, "tea", user_id="eve")
    shown = run("add_memory", messages=[{"role": "user", "content": "tea"}], user_id="bob")
    assert shown.message == "Added 0 memories for user bob, 1 known already"


@given(st.text(max_size=60))
@example("İ" * 40)
@example("a: b")
def test_the_tag_of_an_agent_is_stored_as_it_is(agent: str) -> None:
    try:
        tags = Owner("user", "ana", agent).tags
    except BadInput:
        return
    assert tags_of(tags) == tags


names = st.sampled_from(["bob", "BOB", "user:bob", "agent:bob", "user:user:bob", "agent:agent:bob"])
owners = st.builds(Owner, st.sampled_from(["user", "agent"]), names, st.just(""))


@given(st.lists(owners, min_size=2, max_size=2, unique=True))
def test_no_two_owners_share_a_key(pair: list[Owner]) -> None:
    one, other = pair
    assert one.key != other.key
    item = Item(id=1, uuid="", kind="note", type="fact", title="", owner=one.key)
    assert owner_of(item) == one


CALLS = {
    "add_memory": lambda shown, which, event: {
        "messages": [{"role": "user", "content": shown}],
        "plan": [{"event": event, "id": which, "text": shown}] * (event != "NOOP"),
    },
    "search_memories": lambda shown, _which, _event: {"query": shown},
    "get_memory": lambda _shown, which, _event: {"memory_id": which},
    "update_memory": lambda shown, which, _event: {"memory_id": which, "data": shown},
    "delete_memory": lambda _shown, which, _event: {"memory_id": which},
    "get_all_memories": lambda _shown, _which, _event: {},
    "delete_all_memories": lambda _shown, _which, _event: {},
}
calls = st.tuples(
    st.sampled_from(list(CALLS)),
    st.sampled_from(["tea", "I like tea", "tabs, not spaces", "[[tea]]"]),
    st.integers(0, 5),
    st.sampled_from(["ADD", "UPDATE", "DELETE", "NOOP"]),
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pair=st.lists(owners, min_size=2, max_size=2, unique=True),
    calls=st.lists(calls, min_size=1, max_size=8),
)
def test_no_calls_by_one_owner_change_anothers_memories(
    run: Run, memory: Memory, pair: list[Owner], calls: list[tuple[str, str, int, str]]
) -> None:
    """Not even with the ids of the other one's memories in hand."""
    eve, bob = pair
    add(run, "tea", "I like tea", **naming(bob))
    before = of(memory, bob)
    known = {rows.memory_id(item) for item in before}
    for name, shown, which, event in calls:
        ids = [*sorted(known), *(rows.memory_id(item) for item in of(memory, eve))]
        arguments = CALLS[name](shown, ids[which % len(ids)], event)
        try:
            found = run(name, **arguments, **naming(eve))
        except ObserverError:
            continue
        assert known.isdisjoint(each.id for each in getattr(found, "results", []))
    assert of(memory, bob) == before


def naming(owner: Owner) -> dict[str, str]:
    return {f"{owner.kind}_id": owner.name}


def of(memory: Memory, owner: Owner) -> list[Item]:
    notes = memory.of(owner.key).notes.list(limit=1_000)
    return [item for item in notes if item.owner]


seen = st.characters(exclude_categories=["C", "Z"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(seen), metadata=st.dictionaries(st.text(), st.text()), agent=st.text())
@example(content="\ud800x", metadata={}, agent="")
@example(content="\x1b", metadata={}, agent="")
@example(content="x", metadata={"\ud800": "\0"}, agent="coder")
@example(content="x", metadata={"agent_id": "other"}, agent="coder")
def test_what_is_stored_comes_back_or_is_refused(
    run: Run, content: str, metadata: dict[str, str], agent: str
) -> None:
    whose = {"user_id": "ana", "agent_id": agent}
    try:
        added = add(run, content, metadata=metadata, **whose)
    except ObserverError:
        return
    for identifier in added:
        found = run("get_memory", memory_id=identifier, **whose)
        assert " ".join(found.memory.split()) == " ".join(content.split())
        assert found.agent_id == (agent or None)
