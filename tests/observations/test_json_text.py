"""JSON in words, for what tools are given and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core import json_text
from observer.core.events import ToolUse

Feed = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain", "plain"),
        ("{broken", "{broken"),
        (f'{{"a": "{"x" * 20_000}"}}', f'{{"a": "{"x" * 20_000}"}}'),
        ('{"a": 1, "b": null, "c": "", "d": true, "e": false}', "a: 1\nd: yes\ne: no"),
        ('{"user": {"name": "Ana", "id": 3}}', "user: name: Ana; id: 3"),
        ('[{"title": "Slow", "id": 1}, "x", {"k": {"z": 1}}]', "Slow\nx\nz: 1"),
        ('{"labels": ["a", "b", "c", "d", "e", "f"]}', "labels: a, b, c, d and 2 more"),
        ('{"a": {"b": {"c": {"d": {"e": 1}}}}, "z": 1}', "z: 1"),
        ("[]", ""),
        ("[[]]", ""),
    ],
)
def test_json_reads_as_words(text: str, words: str) -> None:
    assert json_text.plain(text) == words


def test_a_tool_is_reported_by_its_main_argument_and_key_facts(feed: Feed) -> None:
    given = '{"owner": "ana", "title": "Cart is slow", "labels": ["bug", "api"], "body": null}'
    item = feed(ToolUse(tool="mcp__github__create_issue", input=given)).last
    assert item.title == "github create_issue: Cart is slow"
    assert item.facts == ("owner: ana", "title: Cart is slow", "labels: bug, api")


def test_a_tool_without_arguments_is_reported_by_its_name(feed: Feed) -> None:
    item = feed(ToolUse(tool="list_projects", input="{}")).last
    assert (item.title, item.facts) == ("list_projects", ())
