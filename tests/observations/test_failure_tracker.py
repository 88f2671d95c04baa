"""Which files an output names, and how likely a change is why a failing check passes."""

from __future__ import annotations

import pytest

from observer.commands.check import CheckIdentity
from observer.observations.failure_tracker import (
    LIKELY,
    POSSIBLE,
    UNRELATED,
    strength,
)
from observer.observations.fix_text import is_test
from observer.observations.open_failures import FILES, files_named_in
from observer.observations.project_state import TrackedEdit, TrackedFailure, WorktreeBranch

ROOT = "/home/ana/shop"


def test_files_are_named_with_and_without_their_line() -> None:
    output = (
        " at src/a.ts format\n"
        "src/b.ts(3,1): error TS1: x\n"
        "/home/ana/shop/c.py:4: error\n"
        "    at run (/home/ana/shop/src/d.js:1:2)\n"
        " --> e/lib.rs:1:19\n"
        "src/a.ts again"
    )
    expected = ("src/a.ts", "src/b.ts", "c.py", "src/d.js", "e/lib.rs")
    assert files_named_in(output, root=ROOT, cwd=ROOT) == expected


def test_a_name_counts_from_the_folder_that_it_was_printed_in() -> None:
    assert files_named_in("cart_test.go:7: got 0", root=ROOT, cwd=f"{ROOT}/api") == (
        "api/cart_test.go",
    )


def test_packages_numbers_and_words_are_no_files() -> None:
    output = "node_modules/x/a.js 1.5 e.g. https://a.io/x.py v1.2.3 site-packages/y.py done."
    assert files_named_in(output, root=ROOT, cwd=ROOT) == ()


def test_only_so_many_are_kept() -> None:
    output = "\n".join(f"a{number}.py:1: error" for number in range(2 * FILES))
    assert len(files_named_in(output, root=ROOT, cwd=ROOT)) == FILES


WORKTREE = WorktreeBranch(root=ROOT, branch="main")


def failure(program: str = "pytest", tool: str = "pytest", **fields: object) -> TrackedFailure:
    fixed: dict[str, object] = {
        "checks": (CheckIdentity(kind="", base=program, tool=tool),),
        "head": program,
        "worktree": WORKTREE,
        "seq": 1,
        "last_seq": 1,
        "last_ms": 0,
        "items": (4,),
        "sessions": (1,),
    }
    return TrackedFailure(**(fixed | fields))  # type: ignore[arg-type]


def edit(path: str, *symbols: str) -> TrackedEdit:
    return TrackedEdit(seq=2, item=8, worktree=WORKTREE, path=path, symbols=symbols)


def command(remedy: str, said: str) -> TrackedEdit:
    return TrackedEdit(seq=2, item=8, worktree=WORKTREE, kind="command", remedy=remedy, said=said)


FAILED = failure(
    error="tests/test_cart.py::test_total - NameError: name 'sum_up' is not defined",
    tests=("tests/test_cart.py::test_total",),
    files=("tests/test_cart.py", "shop/money.py"),
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(edit("tests/test_cart.py"), LIKELY, id="the test"),
        pytest.param(edit("shop/money.py"), LIKELY, id="a file of the output"),
        pytest.param(edit("shop/user.py", "User.name"), POSSIBLE, id="another file"),
        pytest.param(edit("pyproject.toml"), POSSIBLE, id="configuration"),
        pytest.param(edit("README.md"), UNRELATED, id="prose"),
        pytest.param(edit("docs/notes.txt"), UNRELATED, id="notes"),
        pytest.param(edit("requirements.txt"), POSSIBLE, id="no notes"),
        pytest.param(edit("/home/ana/.plans/a.py"), UNRELATED, id="outside"),
        pytest.param(command("install", "pip install x"), POSSIBLE, id="nothing is missing"),
        pytest.param(edit("web/user.ts"), UNRELATED, id="another language"),
        pytest.param(command("install", "npm install x"), UNRELATED, id="of another language"),
        pytest.param(command("service", "docker compose up -d"), POSSIBLE, id="a service"),
        pytest.param(command("fixer", "black ."), UNRELATED, id="a formatter for a test"),
        pytest.param(command("files", "mv a shop/money.py"), LIKELY, id="a file that is named"),
    ],
)
def test_how_a_change_stands_to_a_failing_test(change: TrackedEdit, expected: int) -> None:
    assert strength(change, FAILED) == expected


@pytest.mark.parametrize(
    ("failed", "change"),
    [
        (failure("ruff check .", "ruff"), command("fixer", "ruff check --fix .")),
        (failure("npx prettier --check .", "prettier"), command("fixer", "npx prettier -w .")),
    ],
)
def test_a_formatter_is_likely_to_mend_what_a_linter_finds(
    failed: TrackedFailure, change: TrackedEdit
) -> None:
    assert strength(change, failed) == LIKELY


@pytest.mark.parametrize(
    ("reason", "change", "expected"),
    [
        ("missing", command("install", "pip install pytest"), LIKELY),
        ("permission", command("files", "chmod +x run.sh"), LIKELY),
        ("service", command("service", "docker compose up -d"), LIKELY),
        ("service", command("files", "chmod +x run.sh"), UNRELATED),
        ("stopped", command("install", "pip install x"), UNRELATED),
        ("missing", edit("shop/cart.py"), UNRELATED),
    ],
)
def test_what_lets_a_command_start(reason: str, change: TrackedEdit, expected: int) -> None:
    assert strength(change, failure(unstarted=reason)) == expected


def test_a_deleted_folder_is_the_cause_where_a_failing_file_lay_in_it() -> None:
    gone = TrackedEdit(
        seq=2, item=8, worktree=WORKTREE, kind="undo", path=f"{WORKTREE.root}/tmp/a", said="rm"
    )
    assert strength(gone, failure(files=("tmp/a/x.test.ts",))) == LIKELY
    assert strength(gone, failure(files=("src/x.test.ts",))) == POSSIBLE


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/test_cart.py", True),
        ("cart_test.go", True),
        ("src/cart-total.test.ts", True),
        ("CartTest.java", True),
        ("spec/cart_spec.rb", True),
        ("Shop.Tests/CartTests.cs", True),
        ("tests/fixtures/prices.json", True),
        ("src/latest.py", False),
        ("src/attest.ts", False),
        ("Makefile", False),
    ],
)
def test_a_test_is_known_by_its_name_or_folder(path: str, tests: bool) -> None:
    assert is_test(path) is tests
