"""What every test of the suite keeps to: it asserts something, and time decides nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from quick import not_quick

HERE = Path(__file__).parent
TESTS = sorted(HERE.rglob("test_*.py"))
EVERY = sorted(HERE.rglob("*.py"))
CLAIMS = {"raises", "warns", "fail", "until", "visit"}
"""What asserts without the word: of pytest, a wait on a condition, a visit that may spring no trap.
"""
CLOCKS = {f"time.{name}" for name in ("monotonic", "perf_counter", "process_time", "time")}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def called_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of what a piece of code calls, and the names of their arguments."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield ast.unparse(each.func).rpartition(".")[2]
            yield from (keyword.arg or "" for keyword in each.keywords)


def has_assert(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(node))


def empty_tests(path: Path) -> Iterator[str]:
    functions = [node for node in nodes_of(path) if isinstance(node, Function)]
    asserting = {each.name for each in functions if has_assert(each)}
    claims = CLAIMS | asserting
    for each in functions:
        is_test = each.name.startswith("test_") and each.name not in asserting
        if is_test and claims.isdisjoint(called_in(each)):
            yield f"{path.relative_to(HERE)}:{each.lineno} {each.name}"


def test_every_test_asserts_something() -> None:
    assert [name for path in TESTS for name in empty_tests(path)] == []


def is_time_taken(node: ast.AST) -> bool:
    """Return True for a difference whose left side is a clock: how long something took."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    left = node.left
    return isinstance(left, ast.Call) and ast.unparse(left.func) in CLOCKS


def test_no_test_asserts_on_elapsed_time() -> None:
    """The machine is shared; `guard` in `conftest.py` stops what grows faster than its input."""
    timed = [
        f"{path.relative_to(HERE)}:{node.lineno}"
        for path in EVERY
        for node in nodes_of(path)
        if isinstance(node, ast.Assert) and any(map(is_time_taken, ast.walk(node)))
    ]
    assert timed == []


def test_what_is_left_out_when_quick_is_there() -> None:
    """A test that was renamed would be quick again, however long it takes."""
    named = {
        f"{path.relative_to(HERE.parent)}::{'::'.join(names)}"
        for path in TESTS
        for names in names_of_tests(ast.parse(path.read_text(encoding="utf-8")).body)
    }
    assert not_quick() - named == set()


def names_of_tests(body: list[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Yield the names of test functions, each behind that of its class."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, *names) for names in names_of_tests(node.body))
        elif isinstance(node, Function) and node.name.startswith("test_"):
            yield (node.name,)
