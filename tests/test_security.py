"""Each promise of SECURITY.md names tests, and each of these tests exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_PROMISED = re.compile(r"^## Who attacks.*?(?=^## )", re.MULTILINE | re.DOTALL)
PROMISES = [line for line in _PROMISED.findall(DOCUMENT)[0].splitlines() if line.startswith("- ")]


@cache
def defined_in(name: str) -> set[str]:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


@pytest.mark.parametrize(("module", "name"), sorted(set(NAMED.findall(DOCUMENT))))
def test_a_named_test_exists(module: str, name: str) -> None:
    assert name in defined_in(module)


@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise_names_a_test(promise: str) -> None:
    assert NAMED.search(promise)


def test_nothing_else_is_named_as_a_test() -> None:
    """A test that is misspelled must not pass for a remark."""
    left = NAMED.sub("", DOCUMENT).replace("`tests/test_security.py`", "")
    assert "tests/" not in left
    assert "::" not in left


def test_the_readme_leads_there() -> None:
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
