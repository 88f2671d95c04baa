"""What every test of the suite keeps to: it asserts something, and time decides nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from quick import not_quick

HERE = Path(__file__).parent
TESTS = sorted(HERE.rglob("test_*.py"))
EVERY = sorted(HERE.rglob("*.py"))
CLAIMS = {"raises", "warns", "fail", "until", "visit"}
"""What asserts without the word: of pytest, a wait on a condition, a visit that may spring no trap.
"""
CLOCKS = {f"time.{name}" for name in ("monotonic", "perf_counter", "process_time", "time")}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Claims(NamedTuple):
    """What is found in one file, so that none is parsed twice, and no tree is kept."""

    tests: list[str]
    empty: list[str]
    timed: list[str]


@cache
def claims_of(path: Path) -> Claims:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    return Claims(
        tests=[f"{path.relative_to(HERE.parent)}::{name}" for name in names_of_tests(tree)],
        empty=[f"{path.relative_to(HERE)}:{each}" for each in empty_tests(nodes)],
        timed=[f"{path.relative_to(HERE)}:{line}" for line in timed_asserts(nodes)],
    )


def called_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of what a piece of code calls, and the names of their arguments."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield ast.unparse(each.func).rpartition(".")[2]
            yield from (keyword.arg or "" for keyword in each.keywords)


def has_assert(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) for each in ast.walk(node))


def empty_tests(nodes: list[ast.AST]) -> Iterator[str]:
    functions = [node for node in nodes if isinstance(node, Function)]
    asserting = {each.name for each in functions if has_assert(each)}
    claims = CLAIMS | asserting
    for each in functions:
        is_test = each.name.startswith("test_") and each.name not in asserting
        if is_test and claims.isdisjoint(called_in(each)):
            yield f"{each.lineno} {each.name}"


def test_every_test_asserts_something() -> None:
    assert [name for path in TESTS for name in claims_of(path).empty] == []


def is_time_taken(node: ast.AST) -> bool:
    """Return True for a difference whose left side is a clock: how long something took."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    left = node.left
    return isinstance(left, ast.Call) and ast.unparse(left.func) in CLOCKS


def timed_asserts(nodes: list[ast.AST]) -> Iterator[int]:
    for node in nodes:
        if isinstance(node, ast.Assert) and any(map(is_time_taken, ast.walk(node))):
            yield node.lineno


def test_no_test_asserts_on_elapsed_time() -> None:
    """The machine is shared; `guard` in `conftest.py` stops what grows faster than its input."""
    assert [line for path in EVERY for line in claims_of(path).timed] == []


def names_of_tests(parent: ast.AST) -> Iterator[str]:
    """Yield the names of test functions, each behind that of its class."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{name}" for name in names_of_tests(node))
        elif isinstance(node, Function) and node.name.startswith("test_"):
            yield node.name


def test_what_is_left_out_when_quick_is_there() -> None:
    """A test that was renamed would be quick again, however long it takes."""
    assert not_quick() - {name for path in TESTS for name in claims_of(path).tests} == set()
