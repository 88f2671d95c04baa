"""`observer note draft --reword`: the real command, a real daemon, a real HTTP server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.errors import BadInput
from observer.llm import prompt, reply

Observer = Callable[..., Any]


@pytest.fixture
def observer(within: Observer) -> Observer:
    """Commands run within this process: what matters is the daemon behind them."""
    return within


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
    observer: Observer,
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
        assert observer("remember", text, "--type", "decision", *more).returncode == 0
    refused = observer("note", "draft", "marmalade", "--reword")
    assert (refused.returncode, "llm_url" in refused.stderr) == (2, True)
    monkeypatch.setenv("OBSERVER_LLM_URL", model.url)
    monkeypatch.setenv("OBSERVER_LLM_MODEL", "tiny")
    plain = observer("note", "draft", "marmalade").stdout
    model.script(complete({"lines": ["The marmalade jobs live in SQLite since 2024.", "4 hours"]}))
    shown = observer("note", "draft", "marmalade", "--reword")
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
        kept = observer("note", "draft", "marmalade", "--reword")
        assert (kept.returncode, kept.stdout) == (0, plain)
        assert "as it was: " in kept.stderr
    assert "leave --reword out" in observer("note", "draft", "--skills", "--reword").stderr
