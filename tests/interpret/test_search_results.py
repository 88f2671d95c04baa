"""What a search found, and its words without the signs of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.events import Search
from observer.interpret.search_results import FILES, found, in_words
from observer.interpret.told import Where

ROOT = "/home/ana/shop"
HERE = Where(root=ROOT, cwd=ROOT)
Tell = Callable[..., Any]


@pytest.mark.parametrize(
    ("asked", "output", "files", "said"),
    [
        pytest.param(
            Search(query="total"),
            "api/cart.py:3:def total():\napi/cart.py-4-    return 0\nweb/cart.ts:9:total()",
            ("api/cart.py", "web/cart.ts"),
            "2 matches in 2 files",
            id="lines",
        ),
        pytest.param(
            Search(query="total", path=f"{ROOT}/api/cart.py"),
            "3:def total():\n4-    return 0",
            ("api/cart.py",),
            "1 match",
            id="lines of one file",
        ),
        pytest.param(
            Search(query="total"),
            f"Found 2 files\n{ROOT}/api/cart.py\n{ROOT}/node_modules/x/a.js",
            ("api/cart.py",),
            "2 files",
            id="files, those of packages aside",
        ),
        pytest.param(
            Search(query="total"), "api/cart.py:3", ("api/cart.py",), "1 file", id="counts"
        ),
        pytest.param(
            Search(query="*.md", where="files"),
            "node_modules/x/a.md\n(Results are truncated. Consider a path.)",
            ("node_modules/x/a.md",),
            "1 file",
            id="only of packages",
        ),
        pytest.param(
            Search(query="total", path="api/cart.py"),
            "No matches found",
            ("api/cart.py",),
            "nothing found",
            id="none",
        ),
        pytest.param(Search(query="total"), "", (), "", id="nobody tells"),
        pytest.param(
            Search(query="total", path="api/cart.py"), "!!", ("api/cart.py",), "", id="unreadable"
        ),
        pytest.param(
            Search(query="total"), "api/cart.py:3:x\n--\nmore", ("api/cart.py",), "1 match", id="--"
        ),
        pytest.param(Search(query="x", where="web"), "a.py:3:x", (), "", id="the web has no files"),
    ],
)
def test_what_was_found(asked: Search, output: str, files: tuple[str, ...], said: str) -> None:
    came = found(Search(**{**_fields(asked), "output": output}), HERE)
    assert (came.files, came.said) == (files, said)


def _fields(asked: Search) -> dict[str, Any]:
    return {"query": asked.query, "where": asked.where, "path": asked.path}


def test_outside_of_any_project_files_have_their_whole_paths() -> None:
    came = found(Search(query="x", output="/etc/hosts.conf:3:x"), Where())
    assert came.files == ("/etc/hosts.conf",)


def test_only_so_many_files_are_named() -> None:
    output = "\n".join(f"f{number}.py" for number in range(3 * FILES))
    came = found(Search(query="f", where="files", output=output), HERE)
    assert (len(came.files), came.said) == (FILES, f"{3 * FILES} files")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("total", "total"),
        ("total|sum_up|add", "total, sum_up or add"),
        (r"\bdef\s+total\(", "def … total("),
        (r"^import .*cart$", "import … cart"),
        (r"evaluate.?impact", "evaluate … impact"),
        (r"a\.b\|c", "a.b|c"),
        (r".*", ".*"),
        ("|", "|"),
    ],
)
def test_a_pattern_is_said_in_words(pattern: str, words: str) -> None:
    assert in_words(Search(query=pattern)) == words


def test_a_glob_stays_as_it_is() -> None:
    assert in_words(Search(query="**/*.md", where="files")) == "**/*.md"


def test_a_search_names_its_files_and_shows_its_matches(tell: Tell) -> None:
    output = "api/cart.py-2-\napi/cart.py:3:def total():\nweb/cart.ts:9:total()"
    item = tell(Search(query="total|sum", output=output)).last
    assert item.title == "total or sum"
    assert item.files_read == ("api/cart.py", "web/cart.ts")
    assert item.facts == ("total|sum", "2 matches in 2 files")
    assert item.narrative == (
        "Searched the code for total or sum: 2 matches in 2 files:"
        " api/cart.py:3:def total():; web/cart.ts:9:total()"
    )


@pytest.mark.parametrize(
    ("output", "said"),
    [("", "no result was reported"), ("No files found", "nothing found")],
)
def test_nothing_found_is_not_nothing_reported(tell: Tell, output: str, said: str) -> None:
    assert tell(Search(query="x", output=output)).last.narrative.endswith(f"for x: {said}")
