"""The observations of all events but file writes and commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Checkout,
    Commit,
    Compaction,
    Custom,
    Delegation,
    FileChange,
    Forget,
    Outcome,
    Prompt,
    Remember,
    Reply,
    Rewrite,
    Search,
    SessionEnd,
    SessionStart,
    ToolUse,
)

Feed = Callable[..., Any]

COMMIT = Commit(
    hash="9f3c1d2e4b5a6f70",
    subject="Round cart totals half even",
    message="Round cart totals half even\n\nThe ledger does it too.\n\nSigned-off-by: Ana <a@b.c>",
    author="Ana <a@b.c>",
    files=(
        FileChange(path="api/cart.py", added=12, removed=4, symbols=("total",)),
        FileChange(path="logo.png", status="added"),
        FileChange(path="b.py", status="renamed", old_path="a.py", added=1, removed=0),
    ),
)


CASES: list[tuple[str, AnyBody, tuple[str, str, str, str]]] = [
    (
        "research",
        Search(query="half even", where="web", output="Decimal.quantize\nmore"),
        (
            "research",
            "half even",
            "web search",
            "",
        ),
    ),
    (
        "page",
        Search(query="https://example.com/a b", where="web"),
        (
            "research",
            "https://example.com/a b",
            "web page",
            "",
        ),
    ),
    (
        "described-delegation",
        Delegation(task="Find callers\nList every caller of total().", agent="Explore"),
        (
            "delegation",
            "Find callers",
            "to Explore",
            "Handed to Explore: Find callers: List every caller of total().",
        ),
    ),
    (
        "delegation",
        Delegation(task="Find callers", agent="Explore", result="Three"),
        (
            "delegation",
            "Find callers",
            "to Explore",
            "Handed to Explore: Find callers.\nExplore came back with: Three",
        ),
    ),
    (
        "tool",
        ToolUse(tool="create_issue", input='{"title": "Slow", "body": "", "n": 1}', output="#12"),
        ("tool-use", "create_issue: Slow", "", ""),
    ),
    (
        "tool-failed",
        ToolUse(tool="", input="{broken", failed=True),
        (
            "tool-use",
            "(unnamed tool): {broken",
            "failed",
            "",
        ),
    ),
    ("tool-without-input", ToolUse(tool="list"), ("tool-use", "list", "", "")),
    (
        "result-alone",
        Outcome(tool="shell", output="3 files", exit_code=1),
        ("tool-use", "shell", "failed", ""),
    ),
    (
        "commit",
        COMMIT,
        (
            "commit",
            "Round cart totals half even",
            "commit 9f3c1d2e4b by Ana",
            (
                "The ledger does it too.\n3 files changed, 13 lines added, 4 removed:"
                " api/cart.py (total), logo.png and b.py."
            ),
        ),
    ),
    (
        "bare-commit",
        Commit(hash="9f3c1d2e4b5a6f70", action="merge"),
        ("commit", "merge 9f3c1d2e4b", "merge 9f3c1d2e4b", ""),
    ),
    (
        "pulled-commit",
        Commit(hash="9f3c1d2e4b5a6f70", subject="A", author="Bo", action="merge", parents=("1",)),
        ("commit", "A", "fast-forward to 9f3c1d2e4b by Bo", ""),
    ),
    (
        "imported-commit",
        Commit(hash="9f3c1d2e4b5a6f70", subject="A", message="B\nC", action="import"),
        ("commit", "A", "commit 9f3c1d2e4b", "B\nC"),
    ),
    (
        "checkout",
        Checkout(old="main", branch="fix/timeout"),
        ("checkout", "Switched to fix/timeout", "", ""),
    ),
    (
        "checkout-from-a-hash",
        Checkout(old="0123456789abcdef" * 3, branch="main"),
        ("checkout", "Switched to main", "", ""),
    ),
    (
        "first-checkout-of-a-worktree",
        Checkout(old="0" * 40, branch="wt"),
        ("checkout", "Switched to wt", "", ""),
    ),
    (
        "detached",
        Checkout(new="0123456789abcdef"),
        ("checkout", "Switched to 0123456789", "", ""),
    ),
    (
        "rewrite",
        Rewrite(reason="rebase", pairs=(("a" * 40, "b" * 40),)),
        ("rewrite", "rebase: 1 commit rewritten", "", ""),
    ),
    (
        "custom",
        Custom(name="Deploy Done!", text="v1.2 is on staging", files=("a.py",)),
        ("deploy-done", "v1.2 is on staging", "Deploy Done!", "v1.2 is on staging"),
    ),
    (
        "custom-that-poses-as-knowledge",
        Custom(name="decision"),
        ("custom", "decision", "decision", ""),
    ),
    ("custom-without-a-name", Custom(name=""), ("custom", "custom", "", "")),
]


@pytest.mark.parametrize(
    ("body", "fed"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_event_is_reported(feed: Feed, body: AnyBody, fed: tuple[str, ...]) -> None:
    item = feed(body).last
    assert (item.type, item.title, item.subtitle, item.narrative) == fed


def test_a_checkout_from_a_hash_keeps_it_as_a_fact(feed: Feed) -> None:
    """Two such switches to one branch read the same, so a context shows the newer one only."""
    assert feed(Checkout(old="0123456789abcdef" * 3, branch="main")).last.facts == (
        "from 0123456789",
    )


SILENT: list[AnyBody] = [
    SessionStart(source="startup", model="m"),
    SessionEnd(reason="exit"),
    Reply(text="Done, because it was easy to do."),
    Compaction(trigger="auto"),
    Prompt(text=" \n"),
    Search(query=""),
    Delegation(),
    Outcome(tool="x", output="Tool ran without output or errors"),
    Checkout(),
    Rewrite(),
    Remember(content="x"),
    Forget(item=3),
]


@pytest.mark.parametrize("body", SILENT, ids=lambda body: type(body).__name__)
def test_what_is_no_observation_gives_none(feed: Feed, body: AnyBody) -> None:
    assert feed(body).items == {}


def test_a_commit_lists_its_files_as_facts(feed: Feed) -> None:
    item = feed(COMMIT).last
    assert item.files_modified == ("api/cart.py", "logo.png", "b.py")
    assert item.facts == (
        "commit 9f3c1d2e4b5a6f70",
        "M api/cart.py +12 -4: total",
        "A logo.png binary",
        "R a.py -> b.py +1 -0",
    )


def files(*named: str) -> tuple[FileChange, ...]:
    """Files of a commit, each `path` or `path:symbol`."""
    parts = (one.partition(":") for one in named)
    return tuple(FileChange(path=path, symbols=(name,) if name else ()) for path, _, name in parts)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        pytest.param(("CHANGELOG.md:Fixed",), "record", id="a list of changes"),
        pytest.param(("docs/news.rst", "package.json:version"), "record", id="a release"),
        pytest.param(("CHANGELOG.md", "package.json:scripts"), "observation", id="a setting too"),
        pytest.param(("CHANGELOG.md", "cart.py"), "observation", id="code too"),
        pytest.param(("package.json:version",), "observation", id="a number alone"),
        pytest.param((), "observation", id="nothing"),
    ],
)
def test_a_commit_that_only_lists_what_others_did_is_a_record(
    feed: Feed, changed: tuple[str, ...], kind: str
) -> None:
    assert feed(Commit(hash="9f3c1d", subject="Go", files=files(*changed))).last.kind == kind


@pytest.mark.parametrize(
    ("message", "title", "kind"),
    [
        ("Merge x\n\nRound the total\n", "Round the total", "observation"),
        ("Merge x", "Merge x", "record"),
    ],
)
def test_a_merge_is_named_by_what_it_brings(
    feed: Feed, message: str, title: str, kind: str
) -> None:
    merge = Commit(hash="9f3c1d", subject="Merge x", message=message, parents=("a", "b"))
    item = feed(merge).last
    assert (item.title, item.kind) == (title, kind)
    assert "Merge x" in f"{item.title}\n{item.narrative}"
