"""What one happening by itself is told as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Compaction,
    Custom,
    Delegation,
    Edit,
    FileChange,
    FileRead,
    FileWrite,
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

Tell = Callable[..., Any]

TS = """\
export async function login(user) {
  return check(user)
}
"""

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

TOLD: list[tuple[str, AnyBody, tuple[str, str, str, str]]] = [
    (
        "edit",
        FileWrite(path="src/auth.ts", edits=(Edit(old=TS, new=TS.replace("check", "verify")),)),
        (
            "file-write",
            "Modified auth.ts",
            "edit src/auth.ts",
            (
                "Modified src/auth.ts in login: 1 line added, 1 removed."
                " Brings in verify. Drops check."
            ),
        ),
    ),
    (
        "small-edit",
        FileWrite(path="a.txt", edits=(Edit(old="x = 1", new="x = 2"),)),
        (
            "file-write",
            "Modified a.txt",
            "edit a.txt",
            "Modified a.txt: 1 line added, 1 removed. `x = 1` became `x = 2`.",
        ),
    ),
    (
        "rename-symbols",
        FileWrite(path="a.py", edits=(Edit(old="def a():\n    1\n", new="def b():\n    1\n"),)),
        (
            "file-write",
            "Modified a.py",
            "edit a.py",
            (
                "Modified a.py: 1 line added, 1 removed. `def a():` became `def b():`."
                " It adds b and removes a."
            ),
        ),
    ),
    (
        "create",
        FileWrite(path="src/auth.ts", operation="create", content=TS),
        (
            "file-write",
            "Created auth.ts",
            "create src/auth.ts",
            "Created src/auth.ts: 3 lines. It adds login. Brings in user, check.",
        ),
    ),
    (
        "create-empty",
        FileWrite(path="empty", operation="create"),
        ("file-write", "Created empty", "create empty", "Created empty."),
    ),
    (
        "remove-lines",
        FileWrite(path="a.txt", edits=(Edit(old="one\ntwo\n"),)),
        (
            "file-write",
            "Modified a.txt",
            "edit a.txt",
            "Modified a.txt: 2 lines removed.",
        ),
    ),
    (
        "delete",
        FileWrite(path="old.py", operation="delete"),
        ("file-write", "Deleted old.py", "delete old.py", "Deleted old.py."),
    ),
    (
        "failed-write",
        FileWrite(path="a.py", error="String not found"),
        (
            "file-write",
            "Failed to edit a.py",
            "edit a.py, failed",
            "Could not edit a.py: String not found",
        ),
    ),
    (
        "read",
        FileRead(paths=("/home/ana/shop/src/auth.ts",), lines="10-80"),
        ("file-read", "auth.ts", "read src/auth.ts", "Read src/auth.ts, lines 10-80."),
    ),
    (
        "read-many",
        FileRead(paths=("a.py", "b.py", "c.py", "d.py")),
        (
            "file-read",
            "a.py, b.py and 2 more",
            "read a.py, b.py and 2 more",
            "Read a.py, b.py, c.py and d.py.",
        ),
    ),
    (
        "read-nothing",
        FileRead(paths=()),
        ("file-read", "(no file)", "read", "Read ."),
    ),
    (
        "command",
        Command(
            command="cd api && pytest -q",
            output="FAILED t.py::a - AssertionError: 2\n1 failed, 3 passed in 0.20s",
            exit_code=1,
            description="Run the tests.",
        ),
        (
            "command",
            "pytest -q",
            "Run the tests.",
            (
                "Ran pytest -q: 1 failed, 3 passed in 200 ms (exit 1). Purpose: Run the tests."
                " First failure: t.py::a - AssertionError: 2"
            ),
        ),
    ),
    (
        "command-failed-without-code",
        Command(command="deploy", failed=True, duration_ms=2500, interrupted=True),
        ("command", "deploy", "", "Ran deploy (interrupted, took 2.5 s)."),
    ),
    (
        "command-failed",
        Command(command="deploy", output="fatal: no host", failed=True),
        ("command", "deploy", "", "Ran deploy (failed). Error: fatal: no host"),
    ),
    (
        "routine",
        Command(command="git status", output="nothing to commit"),
        ("command", "git status", "", "Ran git status."),
    ),
    (
        "research",
        Search(query="half even", where="web", output="Decimal.quantize\nmore"),
        (
            "research",
            "half even",
            "web search",
            "Searched the web for half even: Decimal.quantize; more",
        ),
    ),
    (
        "page",
        Search(query="https://example.com/a b", where="web"),
        (
            "research",
            "https://example.com/a b",
            "web page",
            "Fetched https://example.com/a b: no result was reported",
        ),
    ),
    (
        "code-search",
        Search(query="def total", path="/home/ana/shop/api", output="api/cart.py:3"),
        (
            "research",
            "def total",
            "code search in api",
            "Searched the code in api for def total: api/cart.py:3",
        ),
    ),
    (
        "delegation",
        Delegation(task="Find callers", agent="Explore", result="Three"),
        (
            "delegation",
            "Find callers",
            "to Explore",
            "Handed to Explore: Find callers. Explore came back with: Three",
        ),
    ),
    (
        "tool",
        ToolUse(tool="create_issue", input='{"title": "Slow", "body": "", "n": 1}', output="#12"),
        (
            "tool-use",
            "create_issue: title: Slow, n: 1",
            "",
            "Used create_issue with title: Slow, n: 1: #12",
        ),
    ),
    (
        "tool-failed",
        ToolUse(tool="", input="{broken", failed=True),
        (
            "tool-use",
            "(unnamed tool): {broken",
            "failed",
            "Used (unnamed tool) and failed with {broken.",
        ),
    ),
    (
        "tool-without-input",
        ToolUse(tool="list"),
        ("tool-use", "list", "", "Used list."),
    ),
    (
        "result-alone",
        Outcome(tool="shell", output="3 files", exit_code=1),
        ("tool-use", "shell", "failed", "Used shell and failed: 3 files"),
    ),
    (
        "prompt",
        Prompt(text="Round it\nhalf even", files=("a.py",)),
        ("prompt", "Round it", "", "Round it\nhalf even"),
    ),
    (
        "commit",
        COMMIT,
        (
            "commit",
            "Round cart totals half even",
            "commit 9f3c1d2e4b by Ana",
            "The ledger does it too.\n3 files changed, 13 lines added, 4 removed.",
        ),
    ),
    (
        "bare-commit",
        Commit(hash="9f3c1d2e4b5a6f70", action="merge"),
        ("commit", "merge 9f3c1d2e4b", "merge 9f3c1d2e4b", ""),
    ),
    (
        "imported-commit",
        Commit(hash="9f3c1d2e4b5a6f70", subject="A", message="B\nC", action="import"),
        ("commit", "A", "commit 9f3c1d2e4b", "B\nC"),
    ),
    (
        "checkout",
        Checkout(old="main", branch="fix/timeout"),
        ("checkout", "Switched to fix/timeout", "", "Switched from main to fix/timeout."),
    ),
    (
        "detached",
        Checkout(new="0123456789abcdef"),
        ("checkout", "Switched to 0123456789", "", "Switched to 0123456789."),
    ),
    (
        "rewrite",
        Rewrite(reason="rebase", pairs=(("a" * 40, "b" * 40),)),
        (
            "rewrite",
            "rebase: 1 commit rewritten",
            "",
            "By rebase, aaaaaaaaaa became bbbbbbbbbb.",
        ),
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
    (
        "custom-without-a-name",
        Custom(name=""),
        ("custom", "custom", "", ""),
    ),
]


@pytest.mark.parametrize(
    ("body", "told"), [case[1:] for case in TOLD], ids=[case[0] for case in TOLD]
)
def test_a_happening_is_told(tell: Tell, body: AnyBody, told: tuple[str, ...]) -> None:
    item = tell(body).last
    assert (item.type, item.title, item.subtitle, item.narrative) == told


SILENT: list[AnyBody] = [
    SessionStart(source="startup", model="m"),
    SessionEnd(reason="exit"),
    Reply(text="Done, because it was easy to do."),
    Compaction(summary="We fixed the cart and its tests."),
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
def test_what_is_no_observation_gives_none(tell: Tell, body: AnyBody) -> None:
    assert tell(body).items == {}


def test_a_write_names_its_symbols_and_counts_as_facts(tell: Tell) -> None:
    edit = Edit(
        old="def a():\n    1\n\ndef c():\n    1\n", new="def b():\n    1\n\ndef c():\n    2\n"
    )
    assert tell(FileWrite(path="a.py", edits=(edit,))).last.facts == (
        "a.py",
        "added b",
        "changed c",
        "removed a",
        "+2 -2 lines",
    )


def test_a_command_keeps_its_words_and_results_as_facts(tell: Tell) -> None:
    body = Command(
        command="CI=1 pytest", output="FAILED t.py::a - no\n1 failed in 0.10s", exit_code=1
    )
    assert tell(body).last.facts == (
        "$ CI=1 pytest",
        "exit code 1",
        "pytest: 1 failed in 100 ms",
        "failing: t.py::a",
        "error: t.py::a - no",
    )


def test_a_commit_lists_its_files_as_facts(tell: Tell) -> None:
    item = tell(COMMIT).last
    assert item.files_modified == ("api/cart.py", "logo.png", "b.py")
    assert item.facts == (
        "commit 9f3c1d2e4b5a6f70",
        "M api/cart.py +12 -4: total",
        "A logo.png binary",
        "R a.py -> b.py +1 -0",
    )


def test_a_command_in_another_folder_says_where(tell: Tell, place: Callable[..., Any]) -> None:
    told = tell(place(Command(command="make"), cwd="/home/ana/shop/api"))
    assert told.last.subtitle == "in api"


def test_a_sub_agent_is_named(tell: Tell, place: Callable[..., Any]) -> None:
    told = tell(place(FileRead(paths=("a.py",)), agent="Explore"))
    assert told.last.subtitle == "read a.py, by sub-agent Explore"


def test_an_item_carries_where_and_when_it_happened(tell: Tell) -> None:
    item = tell(Prompt(text="abcde")).last
    assert (item.project_id, item.session_id, item.branch, item.commit) == (7, 1, "main", "c0ffee")
    assert item.created_ms == item.updated_ms > 0
    assert item.discovery_tokens == 2


def test_equal_words_have_equal_hashes(tell: Tell) -> None:
    first, second = tell(Prompt(text="a b")).last, tell(Prompt(text="a  b")).last
    assert first.content_hash == second.content_hash
