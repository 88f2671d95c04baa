from __future__ import annotations

import pytest

from observer.git.patch import MOST_BYTES, MOST_NAMES, AddedNames


def names(path: str, added: str, removed: str = "") -> tuple[str, ...]:
    found = AddedNames(path)
    for sign, text in ((b"+", added), (b"-", removed)):
        for line in text.encode().splitlines():
            found.line(sign, line)
    return found.names()


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
def test_names_are_what_a_patch_brings(
    path: str, added: str, removed: str, expected: tuple[str, ...]
) -> None:
    assert names(path, added, removed) == expected


def test_a_secret_that_was_added_is_no_name() -> None:
    secret = "tangerine" + "_orbit" + "_lantern"
    assert names("a.py", f'db_password = "{secret}"') == ("db_password",)


def test_what_is_looked_at_and_shown_is_bounded() -> None:
    many = "\n".join(f"name_{chr(97 + n // 26)}{chr(97 + n % 26)} = 0" for n in range(600))
    assert len(names("a.py", many)) == MOST_NAMES
    assert names("a.py", f"{' ' * MOST_BYTES}\nlate") == ()
