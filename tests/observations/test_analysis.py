"""How an observation is framed as an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from observer.core.events import Commit, Custom, FileWrite, Prompt

Feed = Callable[..., Any]


def test_a_sub_agent_is_named(feed: Feed, place: Callable[..., Any]) -> None:
    fed = feed(place(FileWrite(path="a.py", content="x = 1\n"), agent="Explore"))
    assert fed.last.subtitle == "edit a.py, by sub-agent Explore"


def test_an_item_carries_where_and_when_it_happened(feed: Feed) -> None:
    item = feed(Prompt(text="abcde")).last
    assert (item.project_id, item.session_id, item.branch, item.commit) == (7, 1, "main", "c0ffee")
    assert item.created_ms == item.updated_ms > 0
    assert item.discovery_tokens == 2


def test_a_commit_becomes_itself_not_as_what_was_checked_out(feed: Feed) -> None:
    assert feed(Commit(hash="5e1f" * 10, subject="Mend")).last.commit == "5e1f" * 10


def test_equal_words_have_equal_hashes(feed: Feed) -> None:
    first, second = (feed(Custom(name="deploy", text=text)).last for text in ("a b", "a  b"))
    assert first.content_hash == second.content_hash
