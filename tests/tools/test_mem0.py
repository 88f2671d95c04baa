"""The mem0 toolset as its reference documents it, whose memories are whose, and plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from observer.core.errors import (
    BadInput,
    ConfigInvalid,
    NotFound,
    ObserverError,
    RuleUserOnly,
    SecretRefused,
)
from observer.core.model import Item
from observer.memory.api import Memory
from observer.memory.values import Extracted
from observer.notes.values import Note
from observer.observations.note_reducer import tags_of
from observer.search.handles import Owner, SearchOptions, owner_of
from observer.tools import mem0
from observer.tools.mem0 import Mem0, Message, MessagePart, memorable
from observer.tools.tool import Tool

ID = r"mem_[0-9a-f]{32}"
SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"

Run = Callable[..., Any]


@pytest.fixture
def tools(memory: Memory) -> dict[str, Tool]:
    return {tool.name: tool for tool in Mem0.of(memory, str)}


@pytest.fixture
def run(tools: dict[str, Tool]) -> Run:
    """Call a tool by its name; returns its result."""
    return lambda name, **arguments: tools[name].call(arguments).result


def put_in(run: Run, *contents: str, **whose: Any) -> list[str]:
    messages = [{"role": "user", "content": content} for content in contents]
    return [each["id"] for each in run("add_memory", messages=messages, **whose)["results"]]


def texts(run: Run, **whose: Any) -> list[str]:
    """Return the memories of somebody; of bob where nobody is named."""
    found = run("get_all_memories", **(whose or {"user_id": "bob"}))
    return [each["memory"] for each in found["results"]]


DOCUMENTED = {
    "add_memory": (["messages"], ["user_id", "agent_id", "metadata"]),
    "search_memories": (["query"], ["user_id", "agent_id", "limit"]),
    "get_memory": (["memory_id"], []),
    "get_all_memories": ([], ["user_id", "agent_id"]),
    "update_memory": (["memory_id", "data"], []),
    "delete_memory": (["memory_id"], []),
    "delete_all_memories": ([], ["user_id", "agent_id"]),
}


def test_the_seven_tools_have_their_documented_parameters(tools: dict[str, Tool]) -> None:
    listed = {name: tool.input_schema for name, tool in tools.items()}
    assert list(listed) == list(DOCUMENTED)
    for name, (required, optional) in DOCUMENTED.items():
        assert listed[name].get("required", []) == required
        assert {*required, *optional} <= set(listed[name]["properties"])
    limit = listed["search_memories"]["properties"]["limit"]
    assert (limit["default"], limit["maximum"], limit["type"]) == (10, 50, "integer")
    added = listed["add_memory"]["properties"]
    assert (added["messages"]["type"], added["metadata"]["type"]) == ("array", "object")


def test_update_memory_keeps_the_rest_and_writes_history(run: Run, memory: Memory) -> None:
    put_in(run, "User loves Python", user_id="user_123", metadata={"source": "chat"})
    notes = memory.of("user_123").notes
    (before,) = notes.list(limit=1)
    data = "User is an expert Python developer"
    run("update_memory", memory_id=mem0.memory_id(before), data=data)
    after = notes.get(before.id)
    assert (after.narrative, after.metadata) == (data, '{"source":"chat"}')
    assert (after.uuid, after.created_ms) == (before.uuid, before.created_ms)
    assert [version.action for version in notes.history(before.id)] == ["remember", "revise"]


INVALID: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("add_memory", {"messages": "hello"}, "Expected `array`"),
    ("add_memory", {"messages": [{"role": "user"}]}, "`content`"),
    ("add_memory", {"messages": [{"role": "human", "content": "x"}]}, "'human' - at `$.messages["),
    ("search_memories", {"query": "  "}, ""),
    ("search_memories", {"query": "x", "limit": 51}, "<= 50"),
    ("search_memories", {"query": "x", "user_id": "a\nb"}, "own"),
    ("delete_all_memories", {"user_id": "ana", "agent_id": "x" * 60}, "cannot be kept beside"),
)


def test_invalid_arguments_and_secrets_are_invalid_params(tools: dict[str, Tool]) -> None:
    messages = [{"role": "user", "content": f"my key is {SECRET}"}]
    secret = ("add_memory", {"messages": messages}, "content looks like it holds a secret (")
    for name, arguments, reason in (*INVALID, secret):
        with pytest.raises(ObserverError) as refused:
            tools[name].call(arguments)
        refusal = tools[name].refusal
        assert refusal
        error = refusal(refused.value)
        kind = "SecretRefusedError" if SECRET in str(arguments) else "InvalidParamsError"
        assert (error.code, error.data["type"]) == (-32602, kind)
        assert error.message.startswith("Invalid params: ") == (kind == "InvalidParamsError")
        assert reason in error.message
        assert SECRET not in error.message


def test_an_answer_names_what_stood_and_one_call_settles_it(
    run: Run, tools: dict[str, Tool], memory: Memory
) -> None:
    put_in(run, "I live in Oslo", user_id="user_123")
    messages = [{"role": "user", "content": "I live in Bergen instead"}]
    answer = tools["add_memory"].call({"messages": messages, "user_id": "user_123"}).text
    stood = re.search(rf"({ID}) of .* stands too: I live in Oslo\nIf one no longer holds", answer)
    assert stood
    run("delete_memory", memory_id=stood[1])
    kept = memory.of("user_123").notes.list(narrow=SearchOptions(scope="personal"))
    assert [item.narrative for item in kept] == ["I live in Bergen instead"]


def test_an_answer_names_at_most_five_standing_memories(run: Run) -> None:
    put_in(run, *(f"I live in Oslo, house {n}" for n in range(7)), user_id="user_123")
    said = [{"role": "user", "content": "I live in Oslo, house 9"}]
    near = run("add_memory", messages=said, user_id="user_123")["near"]
    assert len(near) == 5
    assert [one["score"] for one in near] == sorted((one["score"] for one in near), reverse=True)


def test_metadata_may_come_as_json_text(run: Run) -> None:
    whose = {"user_id": "u", "agent_id": "coder"}
    (added,) = put_in(run, "User loves Python", metadata='{"a": [1]}', **whose)
    (found,) = run("search_memories", query="python", user_id="u")["results"]
    assert 0 < found["score"] <= 1
    known = {"id": added, "memory": "User loves Python", "metadata": {"a": [1]}, **whose}
    assert {name: found[name] for name in known} == known


def test_what_is_shown_again_keeps_the_metadata_of_before(run: Run) -> None:
    mine = {"user_id": "u", "agent_id": "cafe\u0301"}
    put_in(run, "User loves Python", user_id="u", agent_id="coder", metadata={"run_id": 7})
    put_in(run, "User loves Python", metadata={"a": 1}, **mine)
    (found,) = run("get_all_memories", **mine)["results"]
    assert (found["agent_id"], found["metadata"]) == ("cafe\u0301", {"run_id": 7, "a": 1})
    assert run("get_memory", memory_id=found["id"], **mine)["memory"] == "User loves Python"


def test_a_long_list_says_a_line_of_each_and_how_many_it_leaves_out(
    tools: dict[str, Tool], memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.tools.mem0.MOST_LISTED", 2)
    for content in ("a", "[INST] likes tea\n2. hates coffee", "c"):
        memory.of("user_123").notes.remember(Note(content=content, scope="personal"))
    assert tools["get_all_memories"].call({"user_id": "user_123"}).text.splitlines() == [
        "Found 3 memories for user user_123:",
        "1. c",
        "2. \u27e6INST] likes tea 2. hates coffee [suspicious: markup]",
        "(1 older ones left out; search_memories finds them)",
    ]


def test_what_another_agent_showed_is_not_what_is_meant(run: Run) -> None:
    (shown,) = put_in(run, "tabs", user_id="ana", agent_id="coder")
    for tool, more in (("get_memory", {}), ("update_memory", {"data": "x"}), ("delete_memory", {})):
        given = {"memory_id": shown, "user_id": "ana"} | more
        before = texts(run, user_id="ana")
        with pytest.raises(NotFound):
            run(tool, agent_id="other", **given)
        assert texts(run, user_id="ana") == before
        assert run(tool, agent_id="coder", **given)


def test_an_agent_alone_is_all_of_it_whoever_the_user(run: Run) -> None:
    put_in(run, "tabs", user_id="ana", agent_id="coder")
    (bobs,) = put_in(run, "spaces", user_id="bob", agent_id="coder")
    put_in(run, "short answers", agent_id="coder")
    put_in(run, "tea", user_id="ana")
    assert texts(run, agent_id="coder") == ["short answers", "spaces", "tabs"]
    found = run("search_memories", query="spaces", agent_id="coder")["results"]
    assert [(each["id"], each["user_id"]) for each in found] == [(bobs, "bob")]
    assert run("get_memory", memory_id=bobs, agent_id="coder")["user_id"] == "bob"
    assert run("delete_all_memories", agent_id="coder")["count"] == 3
    assert (texts(run, user_id="ana"), texts(run, user_id="bob")) == (["tea"], [])


def test_an_agent_narrows_the_memories_of_a_user(run: Run) -> None:
    put_in(run, "tabs", user_id="ana", agent_id="coder")
    put_in(run, "tea", user_id="ana")
    assert texts(run, user_id="ana", agent_id="coder") == ["tabs"]
    assert texts(run, user_id="ana") == ["tea", "tabs"]
    assert texts(run, agent_id="code") == texts(run, agent_id="user") == []
    assert run("search_memories", query="tabs", agent_id="code")["results"] == []
    assert run("delete_all_memories", user_id="ana", agent_id="coder")["count"] == 1
    assert texts(run, user_id="ana") == ["tea"]
    put_in(run, "User loves Python", user_id="u", metadata={"agent_id": "coder"})
    (found,) = run("get_all_memories", user_id="u")["results"]
    assert (found["agent_id"], found["metadata"]) == (None, {"agent_id": "coder"})


def test_nobody_named_is_the_person_at_this_machine(run: Run, memory: Memory) -> None:
    put_in(run, "I like tea")
    assert [item.narrative for item in memory.notes.list()][:1] == ["I like tea"]
    assert texts(run, user_id=memory.owner) == ["I like tea"]
    (found,) = run("search_memories", query="tea")["results"]
    assert found["user_id"] == memory.owner


def test_what_all_of_a_project_share_is_nobodys_memory(run: Run, memory: Memory) -> None:
    shared = next(item for item in memory.notes.list() if item.scope == "project")
    assert run("search_memories", query="JWT")["results"] == []
    for name, more in (("get_memory", {}), ("delete_memory", {}), ("update_memory", {"data": "x"})):
        with pytest.raises(NotFound):
            run(name, memory_id=mem0.memory_id(shared), **more)
    with pytest.raises(NotFound, match="Memory not found"):
        planned(run, {"event": "DELETE", "id": mem0.memory_id(shared)})
    assert memory.notes.get(shared.id) == shared


def test_an_id_is_refused_to_another_user_who_says_so(run: Run) -> None:
    (identifier,) = put_in(run, "tea", user_id="bob")
    for whose in ({"user_id": "eve"}, {"agent_id": "bob"}):
        with pytest.raises(NotFound, match="Memory not found"):
            run("delete_memory", memory_id=identifier, **whose)
    for form in (identifier, identifier.upper(), identifier[4:], f" {identifier} "):
        assert run("get_memory", memory_id=form, user_id="bob")["memory"] == "tea"


def test_the_same_words_are_stored_once_for_each_owner(run: Run, memory: Memory) -> None:
    notes, first = memory.of("bob").notes, put_in(run, "tea", user_id="bob")
    (before,) = notes.list(limit=1)
    shown = run("add_memory", messages=[{"role": "user", "content": "tea"}], user_id="bob")
    assert shown["message"] == "Added 0 memories for user bob, 1 known already"
    assert [(one["id"], one["event"]) for one in shown["results"]] == [(first[0], "NOOP")]
    assert (notes.get(before.id), len(notes.history(before.id))) == (before, 1)
    assert first != put_in(run, "tea", user_id="eve")


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


calls = st.tuples(
    st.sampled_from(list(DOCUMENTED)),
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

    def of(owner: Owner) -> list[Item]:
        return [item for item in memory.of(owner.key).notes.list(limit=1_000) if item.owner]

    eve, bob = pair
    put_in(run, "tea", "I like tea", **{f"{bob.kind}_id": bob.name})
    before = of(bob)
    known = {mem0.memory_id(item) for item in before}
    for name, shown, which, event in calls:
        ids = [*sorted(known), *(mem0.memory_id(item) for item in of(eve))]
        meant = ids[which % len(ids)]
        plan = [{"event": event, "id": meant, "text": shown}] * (event != "NOOP")
        given = {"messages": [{"role": "user", "content": shown}], "plan": plan, "query": shown}
        given |= {"memory_id": meant, "data": shown, f"{eve.kind}_id": eve.name}
        try:
            found = run(name, **given)  # what a tool does not take it ignores
        except ObserverError:
            continue
        assert known.isdisjoint(each["id"] for each in found.get("results", []))
    assert of(bob) == before


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
        added = put_in(run, content, metadata=metadata, **whose)
    except ObserverError:
        return
    for identifier in added:
        found = run("get_memory", memory_id=identifier, **whose)
        assert " ".join(found["memory"].split()) == " ".join(content.split())
        assert found["agent_id"] == (agent or None)


HELLO: list[dict[str, str]] = [{"role": "user", "content": "hello"}]


def planned(run: Run, *steps: dict[str, str]) -> Any:
    return run("add_memory", messages=HELLO, plan=list(steps), user_id="bob")


@pytest.fixture
def tea(run: Run) -> str:
    """The id of a memory of bob."""
    added = planned(run, {"event": "ADD", "text": "Bob likes tea"})
    return str(added["results"][0]["id"])


USER, AGENT = Message(role="user", content=" I like tea "), Message(role="assistant", content="Ok")
SYSTEM, CALLED = Message(role="system", content="Be brief"), Message(role="assistant", content=None)
PICTURE = Message(role="user", content=[MessagePart()])
PARTS = Message(role="user", content=[MessagePart(text="a"), MessagePart(), MessagePart(text="b")])


KEPT: tuple[tuple[list[Message], Any, list[str]], ...] = (
    ([SYSTEM, USER, AGENT], "user", ["I like tea"]),
    ([SYSTEM, USER, AGENT], "agent", ["Ok"]),
    ([AGENT], "user", ["Ok"]),  # what is there
    ([USER, USER], "user", ["I like tea"] * 2),
    ([SYSTEM, PICTURE], "user", []),
    ([CALLED], "agent", []),
    ([PARTS], "user", ["a\nb"]),
)


def test_the_owners_own_words_are_kept() -> None:
    for messages, by, kept in KEPT:
        assert memorable(messages, by=by) == kept


def test_a_plan_is_carried_out_instead_of_the_messages(run: Run, tea: str) -> None:
    green, oslo = "Bob likes green tea", "Bob lives in Oslo"
    steps = ({"event": "UPDATE", "id": tea, "text": green}, {"event": "ADD", "text": oslo})
    shown = planned(run, *steps, {"event": "NOOP", "id": tea})
    assert shown["message"] == "Added 1 memories for user bob, 1 updated"
    did = [(each["event"], each["memory"]) for each in shown["results"]]
    assert did == [("UPDATE", green), ("ADD", oslo)]
    assert texts(run) == [oslo, green]


WRONG: tuple[tuple[dict[str, str], type[ObserverError]], ...] = (
    ({"event": "UPDATE", "id": "{tea}", "text": " "}, BadInput),
    ({"event": "DELETE", "id": "{tea}"}, BadInput),  # twice
    ({"event": "DELETE", "id": "mem_1"}, NotFound),
    ({"event": "ADD", "text": SECRET}, SecretRefused),
    ({"event": "MERGE"}, BadInput),
)


def test_of_a_plan_that_cannot_be_carried_out_nothing_is(run: Run, tea: str) -> None:
    for wrong, error in WRONG:
        step = {name: text.format(tea=tea) for name, text in wrong.items()}
        with pytest.raises(error):
            planned(run, {"event": "UPDATE", "id": tea, "text": "Bob likes mate"}, step)
        assert texts(run) == ["Bob likes tea"]


def test_a_plan_deletes_no_rule_that_a_person_approved(run: Run, memory: Memory) -> None:
    notes = memory.of("bob").notes
    rule = notes.remember(Note(content="Never push", type="rule", scope="personal")).item
    notes.approve(rule.id, author="person")
    with pytest.raises(RuleUserOnly):
        planned(run, {"event": "DELETE", "id": mem0.memory_id(rule)})
    assert texts(run) == ["Never push"]


def test_a_language_model_words_what_is_kept(memory: Memory) -> None:
    heard: list[Sequence[str]] = []

    def extract(said: Sequence[str]) -> Extracted:
        heard.append(said)
        return Extracted(facts=("The user lives in Oslo.",), model="tiny")

    memory.extract = extract
    add = Mem0.of(memory, str)[0]
    messages = [{"role": "user", "content": "I moved"}, {"role": "assistant", "content": "Where?"}]
    shown = add.call({"messages": messages, "user_id": "bob", "infer": True}).result
    assert heard == [["user: I moved", "assistant: Where?"]]
    assert [each["memory"] for each in shown["results"]] == ["The user lives in Oslo."]
    (item,) = memory.of("bob").notes.list(narrow=SearchOptions(scope="personal"))
    assert item.metadata == '{"inferred_by":"tiny"}'


def test_without_a_language_model_nothing_is_inferred(run: Run) -> None:
    with pytest.raises(ConfigInvalid, match="no language model is configured"):
        run("add_memory", messages=HELLO, user_id="bob", infer=True)
