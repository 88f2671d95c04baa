"""Why a session starts with what it starts with, shown with no daemon."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.config import Settings
from observer.core.paths import Home
from observer.memory.opening import open_memory
from observer.tools import hook_output
from tests.support import Git

Run = Callable[..., Any]
Fill = Callable[..., None]


def test_a_context_is_explained_line_by_line(run: Run, filled: Home) -> None:
    shown = run("context", "--explain", "--json").json
    assert 0 < shown["tokens_used"] <= shown["token_budget"] <= 1000
    assert shown["lines"][0]["why"] == "last session"
    text = run("context", "--explain").out
    assert f"{shown['tokens_used']} of {shown['token_budget']} tokens" in text
    for line in shown["lines"]:
        assert f"{line['text']}\n    {line['tokens']} tokens" in text
        assert line["why"] in line["text"]


def test_what_was_left_out_is_explained_too(
    run: Run, filled: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVER_CONTEXT_TOKENS", "120")
    left = run("context", "--explain", "--json").json["left_out"]
    assert left
    text = run("context", "--explain").out
    for each in left:
        assert f"{each['title']}\n    why: {each['why']}" in text


def test_a_named_project_is_explained_from_anywhere(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = run("context", "--explain", "--project", "app").out
    monkeypatch.chdir(tmp_path)
    assert run("context", "--explain", "--project", "app").out == named


def test_where_a_start_prints_nothing_there_is_nothing_to_explain(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("context", "--explain").out == run("context").err
    assert run("context", "--explain", "--json").json["lines"] == []


def test_of_a_folder_that_is_gone_a_start_prints_nothing(
    run: Run, filled: Home, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(app.rename(app.with_name("moved")))
    assert run("context", "--explain", "--project", "app").out == run("context", "-p", "app").err


def test_what_is_explained_is_what_the_hook_prints_of_the_folder_above(
    run: Run, filled: Home, home: Home, fill: Fill, app: Path, git: Git,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with open_memory(home) as memory:
        hook_output.write(memory, memory.project("app"), home, Settings())
    inner = app / "inner"
    git(inner, "init", "-q")
    fill([{"kind": "remember", "text": "Elsewhere", "cwd": str(inner)}])
    monkeypatch.chdir(inner)
    lines, printed = run("context", "--explain", "--json").json["lines"], run("context").out
    assert [line["why"] for line in lines if line["why"] not in printed] == []
    assert lines
