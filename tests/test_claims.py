"""What every test and docstring keeps to: tests assert something, and none is skipped unseen."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import skips
from quick import not_quick

from observer.core.text import word_set

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


Run = Callable[..., tuple[int, str]]
SCRIPTS = Path(skips.__file__).parent
EXAMPLE = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_skipped(number: int) -> None:
    pytest.skip({reason!r})

@pytest.mark.skipif(True, reason="root reads everything")
def test_marked() -> None: ...
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run tests that are skipped for a reason; return the exit status and what is said."""
    monkeypatch.setenv("PYTHONPATH", str(SCRIPTS))

    def run(reason: str, *options: str) -> tuple[int, str]:
        (tmp_path / "test_some.py").write_text(EXAMPLE.format(reason=reason))
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "skips", *options]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def test_reasons_are_listed_and_a_missing_package_may_fail_the_run(run: Run) -> None:
    status, said = run("fish is not installed")
    assert status == 0
    assert "    3 fish is not installed\n    1 root reads everything\n" in said
    status, said = run("fish is not installed", "--all-installed", "-n2")
    assert status == 1
    assert "should have avoided: fish is not installed" in said
    assert "should have avoided: root" not in said
    assert run("the client codex is not installed", "--all-installed")[0] == 0


@pytest.mark.parametrize("pattern", skips.UNAVOIDABLE)
def test_a_reason_that_is_let_pass_is_one_of_a_test(pattern: str) -> None:
    begins = re.split(r"[.|\\]", pattern)[0]
    here = Path(__file__)
    texts = (path.read_text() for path in here.parent.rglob("test_*.py") if path != here)
    assert any(f'"{begins}' in text for text in texts)


ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "observer"
ROOMS = ("core", "redaction", "git", "code", "shell", "outcomes", "index", "embed", "search")
STORE = ("interface", "reader", "items", "anchors", "log", "note_files", "purging", "writer")
PUBLIC = [
    *(path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))),
    *sorted((PACKAGE / "memory").rglob("*.py")),
    *(PACKAGE / "store" / f"{name}.py" for name in STORE),
]
VERBS = word_set(
    """
    Add Answer Attach Begin Build Buy Check Choose Close Compare Copy Count Create Delete
    Download Drop End Find Forget Give Have Index Insert Keep Leave Lend Load Make Map Move Name
    Note Open Parse Put Raise Read Refuse Remember Replace Resolve Restore Return Run See Send Set
    Show Spend Start Take Turn Undo Wait Write Yield
    """
)
"""What a function does, in the first word of its docstring; a property is named for what it is."""
EVERYWHERE = "StoreUnavailable"
"""Any read of a store may raise it."""


Key = tuple[str, str]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def functions_of(body: list[ast.stmt]) -> Iterator[Function]:
    """Yield the public functions of a module, and the methods of its public classes."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions_of(node.body)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def said(function: Function) -> str:
    return ast.get_docstring(function) or ""


ERRORS = frozenset(
    node.name
    for node in tree_of(PACKAGE / "core" / "errors.py").body
    if isinstance(node, ast.ClassDef)
)


@cache
def named() -> dict[Key, frozenset[str]]:
    """Return the errors that functions name under Raises, by module and function."""
    return {
        (module_of(path), node.name): ERRORS
        & {word.strip(",:`.") for word in said(node).partition("Raises")[2].split()}
        for path in PACKAGE.rglob("*.py")
        for node in tree_of(path).body
        if isinstance(node, Function)
    }


def imports_of(path: Path) -> dict[str, Key]:
    """Return where the functions come from that a module calls by a name of one word or two."""
    module = module_of(path)
    known = {name: (module, name) for of, name in named() if of == module}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name, inner = alias.asname or alias.name, f"{node.module}.{alias.name}"
                known[name] = (node.module, alias.name)
                known |= {f"{name}.{one}": (inner, one) for of, one in named() if of == inner}
    return known


def raised_by(function: Function, known: dict[str, Key]) -> set[str]:
    """Return our errors that a function raises, or lets through from those that it calls."""
    found, caught = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and node.exc:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(ast.unparse(error))
        elif isinstance(node, ast.Call):
            found |= named().get(known.get(ast.unparse(node.func), ("", "")), frozenset())
        elif isinstance(node, ast.ExceptHandler) and node.type:
            caught |= {each.id for each in ast.walk(node.type) if isinstance(each, ast.Name)}
    return set() if "ObserverError" in caught else (found & ERRORS) - caught - {EVERYWHERE}


def test_what_others_build_on_says_what_it_does() -> None:
    silent = []
    for path in PUBLIC:
        for function in functions_of(tree_of(path).body):
            first = said(function).partition(" ")[0].rstrip(".,:;")
            if not (first if is_property(function) else first in VERBS):
                silent.append(f"{module_of(path)}.{function.name}: {first}")
    assert silent == []


def test_what_others_build_on_names_the_errors_that_it_raises() -> None:
    silent = []
    for path in PUBLIC:
        known = imports_of(path)
        for function in functions_of(tree_of(path).body):
            unsaid = [error for error in raised_by(function, known) if error not in said(function)]
            silent += [f"{module_of(path)}.{function.name}: {error}" for error in unsaid]
    assert silent == []
