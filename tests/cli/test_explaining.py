"""Why a session starts with what it starts with, shown with no daemon."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

Run = Callable[..., Any]


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


def test_only_a_known_project_can_be_explained(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = run("context", "--explain", "--project", "app").out
    monkeypatch.chdir(tmp_path)
    assert run("context", "--explain", "--project", "app").out == named
    assert run("context", "--explain").code == 3
