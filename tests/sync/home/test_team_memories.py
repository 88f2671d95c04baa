"""Memories of users and agents that are the team's: two homes, and the seven tools at each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import NotFound
from observer.index.index import Index
from observer.memory.api import Memory
from observer.store.connection import stemmer
from observer.tools.mem0 import Mem0, Message, PlanStep, greeting
from tests.support import memory_over, record_by
from tests.sync.home.machines import Machine

Ask = Callable[..., Any]
TEA = "I drink green tea"


def memory_at(machine: Machine, mem0_scope: str) -> Memory:
    return memory_over(
        machine.store,
        Index(Path("/nowhere"), stem=stemmer(), is_owner=False),
        lambda: machine.now_ms,
        record=record_by(machine.pipeline),
        mem0_scope=mem0_scope,
    )


def tools_at(machine: Machine, mem0_scope: str = "team") -> Ask:
    """Return a function that calls a tool of a machine by its name."""
    tools = Mem0(memory_at(machine, mem0_scope), lambda: str(machine.shop))

    def ask(name: str, **arguments: Any) -> Any:
        machine.now_ms += 1000
        return getattr(tools, name)(**arguments).result

    return ask


@pytest.fixture
def here(ana: Machine) -> Ask:
    return tools_at(ana)


@pytest.fixture
def there(bob: Machine) -> Ask:
    return tools_at(bob)


def add(ask: Ask, text: str, **whose: str) -> str:
    return str(ask("add_memory", messages=[Message("user", text)], **whose)["results"][0]["id"])


def all_of(ask: Ask, **whose: str) -> list[str]:
    return sorted(one["memory"] for one in ask("get_all_memories", **whose)["results"])


def test_a_memory_is_there_on_the_other_machine(
    ana: Machine, bob: Machine, here: Ask, there: Ask, sync: Any
) -> None:
    add(here, TEA, user_id="alice")
    sync(ana, bob)
    (found,) = there("search_memories", query="tea", user_id="alice")["results"]
    assert (found["memory"], found["user_id"], found["metadata"]) == (TEA, "alice", None)


def test_the_same_words_are_known_and_names_that_differ_in_case_are_two(here: Ask) -> None:
    first = add(here, TEA, user_id="alice")
    assert here("add_memory", messages=[], plan=[], user_id="alice")["results"] == []
    assert add(here, TEA, user_id="alice") == first
    add(here, TEA, user_id="Alice")
    here("delete_all_memories", user_id="alice")
    assert (all_of(here, user_id="alice"), all_of(here, user_id="Alice")) == ([], [TEA])


def test_changes_reach_others(ana: Machine, bob: Machine, here: Ask, there: Ask, sync: Any) -> None:
    memory = add(here, TEA, user_id="alice")
    add(here, "I run", user_id="alice")
    add(here, "I eat bread", user_id="bert")
    sync(ana, bob)
    there("update_memory", memory_id=memory, data="I drink coffee")
    sync(bob, ana)
    assert all_of(here, user_id="alice") == ["I drink coffee", "I run"]
    there("delete_memory", memory_id=memory)
    sync(bob, ana)
    with pytest.raises(NotFound, match="Memory not found"):
        here("get_memory", memory_id=memory)
    assert all_of(here, user_id="alice") == ["I run"]
    there("delete_all_memories", user_id="alice")
    sync(bob, ana)
    assert (all_of(here, user_id="alice"), all_of(here, user_id="bert")) == ([], ["I eat bread"])


def test_what_an_agent_stored_is_its_and_of_the_user_it_was_for(here: Ask) -> None:
    memory = add(here, TEA, agent_id="Cook")
    found = here("get_memory", memory_id=memory)
    assert (found["user_id"], found["agent_id"]) == (None, "Cook")
    add(here, "I eat bread", user_id="alice", agent_id="Cook")
    add(here, "I run", user_id="alice")
    assert all_of(here, agent_id="Cook") == [TEA, "I eat bread"]
    assert all_of(here, user_id="alice", agent_id="Cook") == ["I eat bread"]


def test_anothers_memory_or_a_note_is_neither_shown_nor_changed(ana: Machine, here: Ask) -> None:
    ana.note("We ship on Fridays", scope="team")
    note, memory = ana.only().uuid, add(here, TEA, user_id="alice")
    plan = {"messages": [], "plan": [PlanStep("DELETE", id=memory)]}
    for name, asked in (
        ("add_memory", plan | {"user_id": "bert"}),
        ("get_memory", {"memory_id": memory, "user_id": "bert"}),
        ("get_memory", {"memory_id": note}),
    ):
        with pytest.raises(NotFound, match="Memory not found"):
            here(name, **asked)


def test_until_a_person_chooses_memories_are_personal_and_stay(ana: Machine, sync: Any) -> None:
    personal = tools_at(ana, mem0_scope="personal")
    add(personal, TEA, user_id="alice")
    assert [one.sent for one in sync(ana)] == [0]
    assert (ana.only().scope, all_of(tools_at(ana), user_id="alice")) == ("personal", [])


@pytest.mark.parametrize(("scope", "is_said"), [("team", True), ("personal", False)])
def test_who_else_reads_the_memories_is_said(ana: Machine, scope: str, *, is_said: bool) -> None:
    assert ("everybody in a share" in greeting(memory_at(ana, scope))) == is_said
