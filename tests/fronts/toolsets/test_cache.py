"""A kept answer is the one that would be made anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.model import Session, item_id
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.store.database import SqliteStore
from observer.tools.core import CACHED, LONGEST, GitAnswers, ResponseCache
from observer.tools.registry import tools_of
from observer.tools.tool import ToolResult

NOW_MS = 1_742_050_000_000
MINUTE_MS = 60_000
SESSION = Session(id=14, external="session-abc", client="claude-code", project_id=2)

_numbers = count()


def made(*texts: str) -> Mock:
    """Return what makes one answer after the other."""
    return Mock(side_effect=[ToolResult(text, msgspec.Struct()) for text in texts])


@pytest.fixture
def kept(memory: Memory) -> ResponseCache:
    return ResponseCache(memory, lambda: NOW_MS)


def test_an_answer_is_made_once_while_nothing_changes(kept: ResponseCache) -> None:
    make = made("one", "two")
    assert kept.answer("x", make).text == kept.answer("x", make).text == "one"
    assert kept.answer("y", make).text == "two"


def test_whatever_is_written_drops_it(kept: ResponseCache, store: SqliteStore) -> None:
    make = made("one", "two")
    kept.answer("x", make)
    with store.write() as writer:
        writer.put_session(replace(SESSION, branch="other"))
    assert kept.answer("x", make).text == "two"


def test_what_is_written_while_it_is_made_drops_it_too(
    kept: ResponseCache, store: SqliteStore
) -> None:
    def make(_: GitAnswers) -> ToolResult[msgspec.Struct]:
        with store.write() as writer:
            writer.put_session(replace(SESSION, branch=f"{next(_numbers)}"))
        return ToolResult("one", msgspec.Struct())

    kept.answer("x", make)
    assert kept.answer("x", made("two")).text == "two"


def test_it_is_dropped_after_a_minute(memory: Memory) -> None:
    times = iter((NOW_MS, NOW_MS, NOW_MS + MINUTE_MS))
    kept, make = ResponseCache(memory, lambda: next(times)), made("one", "two")
    assert [kept.answer("x", make).text for _ in range(3)] == ["one", "one", "two"]


def test_it_is_dropped_once_git_says_otherwise(kept: ResponseCache) -> None:
    shown = iter((frozenset("a"), frozenset("a"), None))

    def make(git: GitAnswers) -> ToolResult[msgspec.Struct]:
        ask = git.recording(lambda _: next(shown))
        assert ask
        return ToolResult(str(ask(["a", "b"])), msgspec.Struct())

    assert kept.answer("x", make).text == kept.answer("x", made()).text
    assert kept.answer("x", made("anew")).text == "anew"


def test_few_are_kept_and_no_long_one(kept: ResponseCache) -> None:
    kept.answer("x", made("one"))
    kept.answer("long", made("x" * (LONGEST + 1)))
    assert kept.answer("long", made("anew")).text == "anew"
    for number in range(CACHED):
        kept.answer(number, made("more"))
    assert kept.answer("x", made("two")).text == "two"


def remember(memory: Memory, _: SqliteStore) -> None:
    memory.notes.remember(Note(content=f"Keep {next(_numbers)}"), project="my-api")


def end(_: Memory, store: SqliteStore) -> None:
    with store.write() as writer:
        writer.put_session(replace(SESSION, branch=f"b{next(_numbers)}"))


def change(_: Memory, store: SqliteStore) -> None:
    with store.read() as reader:
        (item,) = reader.items([item_id(12)])
    with store.write() as writer:
        writer.put_items([replace(item, title=f"Modified {next(_numbers)}")])


def ask_only(_memory: Memory, _store: SqliteStore) -> None:
    """Change nothing."""


@given(st.lists(st.sampled_from([remember, end, change, ask_only]), max_size=6))
def test_a_context_is_the_same_bytes_as_one_that_is_made_anew(
    memory: Memory, store: SqliteStore, steps: Sequence[Callable[[Memory, SqliteStore], None]]
) -> None:
    kept = tools_of(("core",), memory, lambda: "")
    for step in steps:
        step(memory, store)
        arguments = {"project": "my-api"}
        fresh = tools_of(("core",), memory, lambda: "")["get_context"].call(arguments)
        answer = kept["get_context"].call(arguments)
        assert answer.text == fresh.text
        assert msgspec.json.encode(answer.result) == msgspec.json.encode(fresh.result)
