"""Why a session starts with what it starts with, and what items weigh, shown with no daemon."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.model import UsageEvent
from observer.core.paths import Home
from observer.store.sqlite.database import SqliteStore

Run = Callable[..., Any]
HOUR_MS = 3_600_000


@pytest.fixture
def used(run: Run, home: Home, filled: Home) -> int:
    """An item that one session was shown and fetched; another item was only shown."""
    item = run("context", "--explain", "--json").json["lines"][0]["id"]
    at_ms = time.time_ns() // 1_000_000 - HOUR_MS
    store = SqliteStore(home.database)
    with store.write() as writer:
        writer.put_uses(
            [
                UsageEvent(item=item, session=9, sort="shown", at_ms=at_ms),
                UsageEvent(item=item, session=9, sort="fetched", at_ms=at_ms + 1000),
                UsageEvent(item=item + 4, session=9, sort="shown", at_ms=at_ms),
                UsageEvent(item=4_000_000, session=9, sort="shown", at_ms=at_ms),
            ]
        )
    store.close()
    return int(item)


def test_usage_lists_what_is_known_the_most_useful_first(run: Run, used: int) -> None:
    first, *rest = run("usage", "--json").json
    assert (first["id"], first["shown"], first["used"], first["weight"] > 1) == (used, 1, 1, True)
    assert [use["sort"] for use in first["uses"]] == ["shown", "fetched"]
    assert all(each["weight"] < 1 and each["id"] < 4_000_000 for each in rest)


def test_usage_is_of_the_items_named(run: Run, used: int) -> None:
    assert [each["id"] for each in run("usage", str(used), "--json").json] == [used]
    head, row = run("usage", str(used)).out.splitlines()
    assert head.split("\t") == ["id", "weight", "shown", "used", "last", "title"]
    assert row.split("\t")[:4] == [str(used), "1.10", "1", "1"]
    assert "fetched 2" in row


def test_show_says_what_is_known_of_the_use(run: Run, used: int) -> None:
    assert f"use of #{used}: weight 1.10 (sessions: 1 shown, 1 used): fetched 2" in (
        run("show", str(used)).out
    )
    assert "use of" not in run("show", str(used), "--json").out


def test_a_context_is_explained_line_by_line(run: Run, used: int) -> None:
    shown = run("context", "--explain", "--json").json
    assert 0 < shown["tokens_used"] <= shown["token_budget"] <= 1000
    assert shown["lines"][0]["why"] == "last session"
    weighed = next(line for line in shown["lines"] if line["id"] == used)
    assert (weighed["weight"], weighed["shown"], weighed["used"]) == (1.1, 1, 1)
    text = run("context", "--explain").out
    assert f"{shown['tokens_used']} of {shown['token_budget']} tokens" in text
    for line in shown["lines"]:
        assert f"{line['text']}\n    why: {line['why']} · {line['tokens']} tokens" in text


def test_what_was_left_out_is_explained_too(run: Run, filled: Home) -> None:
    left = run("context", "--explain", "--tokens", "120", "--json").json["left_out"]
    assert left
    text = run("context", "--explain", "--tokens", "120").out
    for each in left:
        assert f"{each['title']}\n    why: {each['why']}" in text


def test_only_a_known_project_can_be_explained(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = run("context", "--explain", "--project", "app").out
    monkeypatch.chdir(tmp_path)
    assert run("context", "--explain", "--project", "app").out == named
    assert run("context", "--explain").code == 3
