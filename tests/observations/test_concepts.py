from __future__ import annotations

import pytest

from observer.observations import concepts


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
def test_identifiers_are_split_into_informative_words(name: str, words: tuple[str, ...]) -> None:
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            "Warum wird der Rabatt nicht auf die Summe im Warenkorb gerundet und gespeichert?",
            ("rabatt", "summe", "warenkorb", "gerundet", "gespeichert"),
            id="german",
        ),
        pytest.param(
            "Corrige le calcul de la remise dans le panier pour les clients avec une carte",
            ("corrige", "calcul", "remise", "panier", "clients", "carte"),
            id="french",
        ),
        pytest.param(
            "¿Por qué el descuento del carrito no se redondea para los clientes?",
            ("descuento", "carrito", "redondea", "clientes"),
            id="spanish",
        ),
        pytest.param(
            "O desconto não é arredondado com os clientes da loja porque você mudou isso",
            ("desconto", "arredondado", "clientes", "loja", "mudou"),
            id="portuguese",
        ),
        pytest.param(
            "Perché lo sconto della cassa non viene arrotondato con gli altri?",
            ("sconto", "cassa", "viene", "arrotondato", "altri"),
            id="italian",
        ),
        pytest.param(
            "Waarom wordt de korting niet afgerond voor het bedrag van een klant?",
            ("korting", "afgerond", "bedrag", "klant"),
            id="dutch",
        ),
        pytest.param(
            "Почему скидка не округляется, когда это нужно для корзины?",
            ("скидка", "округляется", "корзины"),
            id="russian",
        ),
    ],
)
def test_function_words_of_other_languages_are_no_concepts(
    text: str, words: tuple[str, ...]
) -> None:
    assert concepts.of_text(text) == words


def test_what_redaction_left_behind_is_no_concept() -> None:
    assert concepts.of_text("rotate [redacted:github-token] and [private]") == ("rotate",)


def test_there_are_never_more_than_eight() -> None:
    words = [f"word{letter}" for letter in "abcdefghijkl"]
    assert len(concepts.together(words)) == concepts.AT_MOST
