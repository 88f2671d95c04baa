from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.git.blame import lines_of
from observer.git.patch import (
    CUT,
    MOST_BYTES,
    MOST_NAMES,
    MOST_SYMBOLS,
    CommitParser,
    FilePatch,
)
from tests.support import Git

HEADER = b"\0" + b"\0".join((b"1" * 40, b"", b"Ana", b"1", b"1", b"Change\n"))


@pytest.mark.parametrize(
    "line", [b":\n", b": no entry\n", b"@@ -1 +1,%b @@\n" % (b"9" * 5000)], ids=len
)
def test_a_line_that_no_git_writes_adds_nothing(line: bytes) -> None:
    draft = CommitParser(HEADER)
    draft.take(line)
    _, commit = draft.finished()
    assert (commit.subject, commit.files) == ("Change", ())


def names(path: str, added: str, removed: str = "") -> tuple[str, ...]:
    file = FilePatch(path.encode(), "modified")
    for sign, text in ((b"+", added), (b"-", removed)):
        for line in text.encode().splitlines():
            file.line(sign, line)
    return file.change().names


@pytest.mark.parametrize(
    ("path", "added", "removed", "expected"),
    [
        pytest.param("a.py", "total = price + price", "", ("total", "price"), id="once-each"),
        pytest.param("a.py", "total = cost", "total = price", ("cost",), id="new-ones"),
        pytest.param("a.py", "return while lambda_x", "", ("lambda_x",), id="no-keywords"),
        pytest.param("a.py", "sha1234567 v2_name x", "", ("v2_name",), id="no-numbers"),
        pytest.param("a.py", "total = 1  # which creates", "", ("total",), id="comment"),
        pytest.param(
            "a.ts",
            "/** Does so.\n * which creates\n */\ncost(1) // sums",
            "",
            ("cost",),
            id="comments",
        ),
        pytest.param("a.sql", "total -- which creates", "", ("total",), id="dashes"),
        pytest.param("a.go", "cost(\"which creates\", 'x')", "", ("cost",), id="strings"),
        pytest.param("a.py", 'cost()\n"""Which\n\ncreates"""', "", ("cost",), id="docstring"),
        pytest.param("README.md", "total price", "", (), id="prose"),
        pytest.param("package.json", '"total": "price"', "", (), id="data"),
        pytest.param("noext", "total", "", (), id="unknown"),
        pytest.param("a.py", "", "total", (), id="nothing-added"),
    ],
)
def test_a_patch_brings_names(
    path: str, added: str, removed: str, expected: tuple[str, ...]
) -> None:
    assert names(path, added, removed) == expected


def test_what_is_shown_is_bounded_and_no_secret() -> None:
    many = "\n".join(f"name_{chr(97 + n // 26)}{chr(97 + n % 26)} = 0" for n in range(600))
    assert len(names("a.py", many)) == MOST_NAMES
    assert names("a.py", f"{' ' * MOST_BYTES}\nlate") == ()
    secret = "tangerine" + "_orbit" + "_lantern"
    assert names("a.py", f'db_password = "{secret}"') == ("db_password",)


def named(path: str, *lines: str, around: str = "") -> tuple[str, ...]:
    file = FilePatch(path.encode(), "modified")
    file.hunk(0, len(lines), around.encode())
    for line in lines:
        file.line(b"+", line.encode())
    return file.change().symbols


@pytest.mark.parametrize(
    ("path", "around", "lines", "found"),
    [
        pytest.param("a.py", "", ["    async def total(self):"], ("total",), id="defines"),
        pytest.param("a.py", "", ["def b():", "def a():", "def b():"], ("b", "a"), id="in order"),
        pytest.param("package.json", "", ['  "version": "2",'], (), id="data names nothing"),
        pytest.param("a.txt", "", ["def total():"], (), id="no language"),
        pytest.param("a.py", "def total(cart):", ["    return 1"], ("total",), id="inside"),
        pytest.param("a.py", "import os", ["    x = 1"], (), id="around that defines nothing"),
        pytest.param("a.py", "def total(cart):", ["", "def other():", "    return 1"], ("other",),
                     id="next definition"),
        pytest.param("a.py", "def total(cart):", ["", "print(1)", "    return 1"], (), id="behind"),
        pytest.param("a.js", "function total() {", ["", "   ", "}", "});"], (), id="brackets"),
        pytest.param("a.md", "# Totals", ["Some words."], ("Totals",), id="section"),
        pytest.param("a.sql", "CREATE TABLE cart (", ["INSERT INTO cart"], (), id="sql"),
        pytest.param("Makefile", "test: build", ["CC = gcc"], (), id="make"),
    ],
)  # fmt: skip
def test_a_changed_line_names_what_it_defines_or_is_in(
    path: str, around: str, lines: list[str], found: tuple[str, ...]
) -> None:
    assert named(path, *lines, around=around) == found


def test_many_names_are_cut() -> None:
    many = [f"def f{n}():" for n in range(MOST_SYMBOLS + 2)]
    names = tuple(f"f{n}" for n in range(MOST_SYMBOLS))
    assert named("a.py", *many[:MOST_SYMBOLS]) == names
    assert named("a.py", *many) == (*names, CUT)


PATHS = ["a.py", "a.ts", "a.c", "a.java", "a.rs", "a.go", "a.sql", "a.sh", "a.rb", "a.md", "a.php"]


@given(st.sampled_from(PATHS), st.binary(max_size=400))
def test_any_line_is_survived(path: str, line: bytes) -> None:
    file = FilePatch(path.encode(), "modified")
    file.hunk(0, 1, line)
    file.line(b"+", line)
    assert all(isinstance(name, str) for name in file.change().symbols)


PATCH = ("log", "-1", "-p", "-U0", "--format=", "--diff-merges=off")


def test_lines_are_named_by_their_number_in_the_commit(tmp_path: Path, git: Git) -> None:
    root = tmp_path / "shop"
    git(root, "init", "-q")

    def commit(**texts: str) -> dict[str, dict[int, str]]:
        for name, text in texts.items():
            (root / f"{name} file.txt").write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "change")
        found = lines_of(git(root, *PATCH).split("\n"))
        return {path.split(" ")[0]: dict(lines) for path, lines in found.items()}

    assert commit(a="one\ntwo\nthree\n", b="--- x\n+++ y\n") == {
        "a": {1: "one", 2: "two", 3: "three"},
        "b": {1: "--- x", 2: "+++ y"},
    }
    assert commit(a="one\n2\n2b\nthree\n", b="@@ -1 +1 @@") == {
        "a": {2: "2", 3: "2b"},
        "b": {1: "@@ -1 +1 @@"},
    }
    assert commit(a="three\n") == {}
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(b="side\n")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "side", "-m", "merge")
    assert lines_of(git(root, *PATCH).split("\n")) == {}
