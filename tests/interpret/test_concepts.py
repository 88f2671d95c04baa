from __future__ import annotations

import pytest

from observer.interpret import concepts


def test_a_path_gives_its_language_its_name_and_nearest_folders() -> None:
    found = concepts.of_path("services/billing/src/CartTotal.py")
    assert found == ("python", "cart", "total", "billing")


def test_symbols_give_their_words() -> None:
    assert concepts.of_files(("a.ts",), ("verifyToken",)) == ("typescript", "verify", "token")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parseHTTPHeader2", ("parse", "http", "header")),
        ("order_line_items", ("order", "items")),
        ("getX", ()),
        ("__init__", ()),
    ],
)
def test_identifiers_are_split_into_telling_words(name: str, words: tuple[str, ...]) -> None:
    assert concepts.identifier_words(name) == words


def test_tools_stand_for_what_the_table_says() -> None:
    assert concepts.of_tools(("pytest", "tail", "docker")) == (
        "pytest",
        "testing",
        "docker",
        "containers",
    )


def test_a_text_gives_its_commonest_words_first() -> None:
    text = "Please round the cart total; the cart must round half even in the cart"
    assert concepts.of_text(text, 3) == ("cart", "round", "total")


def test_what_redaction_left_behind_is_no_concept() -> None:
    assert concepts.of_text("rotate [redacted:github-token] and [private]") == ("rotate",)


def test_there_are_never_more_than_eight() -> None:
    words = [f"word{letter}" for letter in "abcdefghijkl"]
    assert len(concepts.together(words)) == concepts.AT_MOST
