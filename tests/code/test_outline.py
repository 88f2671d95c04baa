"""Every text has an outline: from its tree where that is sound, else from its lines."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.code.lines import Symbol
from observer.code.outline import MOST_CHARS, outline, parse_symbols
from observer.code.tree import COMPARED_BYTES, GRAMMARS, MOST_FOUND

CART = '''\
class Cart(Base):
    """Things to buy."""

    @property
    def total(self):
        # all of it
        return sum(self.items)


LIMIT = 3
'''


def places(text: str, language: str) -> list[tuple[str, str, int, int]]:
    return [(s.path, s.kind, s.first_line, s.last_line) for s in outline(text, language)]


def test_symbols_come_in_order_with_all_they_say() -> None:
    assert places(CART, "python") == [
        ("Cart", "class", 1, 7),
        ("Cart.total", "function", 4, 7),
        ("LIMIT", "constant", 10, 10),
    ]
    assert outline(CART, "python")[1] == Symbol(
        name="total",
        path="Cart.total",
        kind="function",
        first_line=4,
        last_line=7,
        signature="def total(self)",
        text="@property\ndef total(self):\n    return sum(self.items)",
        comments="# all of it",
    )


PIECES = [
    pytest.param("python", "        return 1\n\n    def add(self):\n        pass\n",
                 [("add", "function", 3, 4)], id="python-out-of-a-body"),
    pytest.param("python", "    def add(self):", [("add", "function", 1, 1)], id="python-head"),
    pytest.param("javascript", "  add(x) {\n    go(x)\n  }\n", [("add", "function", 1, 3)],
                 id="a-method-alone"),
    pytest.param("javascript", "    go(x)\n    const f = () => 1\n", [("f", "function", 2, 2)],
                 id="statements"),
    pytest.param("go", "\t}\n\t}\n}\nfunc F() {\n", [("F", "function", 4, 4)], id="go-closers"),
    pytest.param("php", "function f() {}\n", [("f", "function", 1, 1)], id="php-without-tag"),
    pytest.param("json", '"a": 1,\n"b": {}', [("a", "key", 1, 1), ("b", "key", 2, 2)],
                 id="keys-alone"),
    pytest.param("cpp", "Vec& Cart::operator=(Vec& v) { int f(int x); }\nint (*g(int))(int) {}\n",
                 [("Cart.operator=", "function", 1, 1), ("g", "function", 2, 2)], id="declarators"),
    pytest.param("c", "void f(void) {\n  int g(int);\n}\n", [("f", "function", 1, 3)],
                 id="a-prototype-in-a-function"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "found"), PIECES)
def test_a_piece_of_a_file_is_read_as_what_it_is_cut_from(
    language: str, text: str, found: list[tuple[str, str, int, int]]
) -> None:
    assert places(text, language) == found


def test_lists_front_matter_and_fences_hide_what_they_hold() -> None:
    assert [s.path for s in outline("a:\n- b: 1\n  c: 2\nd: |\n  e: 1\n", "yaml")] == ["a", "d"]
    text = "---\ntitle: x\n---\n# A\n~~~\n# no\n~~~\nB\n===\n- c\n---\n"
    assert [s.path for s in outline(text, "markdown")] == ["A", "B"]
    assert [s.path for s in outline("---\n# A\n", "markdown")] == ["A"]


HOSTILE = [
    pytest.param("x=1;" * 1_250_000, id="one-line-of-five-megabytes"),
    pytest.param("{" * 40_000, id="deep-braces"),
    pytest.param("}" * 40_000, id="closers"),
    pytest.param("a<" * 20_000, id="type-arguments"),
    pytest.param("\n".join(" " * deep + "if x:" for deep in range(300)), id="deep-indentation"),
    pytest.param("def a\n" * 8_000, id="open-definitions"),
    pytest.param("def a():\n  \0\n", id="nul"),
    pytest.param("def a\udc80():\n  '\ud800'\n", id="lone-surrogates"),
    pytest.param("function f(){\n" * 100, id="functions-in-functions"),
    pytest.param("x = f(1)\n" * 5_000, id="many-steps"),
]


@pytest.mark.measured
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_has_an_outline_in_time(text: str) -> None:
    for language in [*GRAMMARS, "yaml", "markdown", "sql", "kotlin", ""]:
        starts = [symbol.first_line for symbol in outline(text, language)]
        assert starts == sorted(starts), language


def test_deep_full_or_broken_texts_are_read_by_their_lines_and_many_brackets_are_not_deep() -> None:
    assert parse_symbols("x([" + "(1), " * 200 + "])\n", "python") == ()
    text = '"a":1,' * MOST_FOUND + '"a":1'
    assert len(text) < MOST_CHARS
    assert parse_symbols(text, "json") is None
    text = CART.replace("self.items)", "self.items")
    assert parse_symbols(text, "python") is None
    assert [s.path for s in outline(text, "python")] == ["Cart", "Cart.total", "LIMIT"]


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        ("fun f(a: Int = g(1), b: Int): Int {", "fun f(a: Int = g(1), b: Int): Int"),
        ("fun f(a: Int) = g(a)", "fun f(a: Int)"),
        ("fun f((a", "fun f((a"),
        ("class A {", ""),
    ],
)
def test_a_signature_is_what_stands_before_the_body(line: str, signature: str) -> None:
    assert [s.signature for s in outline(line, "kotlin")] == [signature]


@pytest.mark.parametrize("length", [COMPARED_BYTES - 1, COMPARED_BYTES, 3 * COMPARED_BYTES])
def test_a_name_that_is_read_in_steps_is_compared_whole(length: int) -> None:
    found = outline(f"{'A' * length} = 1\n{'A' * length}b = 2\n", "python")
    assert [symbol.kind for symbol in found] == ["constant", "variable"]


PARTS = st.text(st.sampled_from("def a():\n\t }{[)]class#x'\"`<>;=|-\0é\udc80"), max_size=120)


@given(PARTS, st.sampled_from([*GRAMMARS, "yaml", "markdown", "sql", "lua", ""]))
def test_any_text_has_an_outline_inside_its_lines(text: str, language: str) -> None:
    last = text.count("\n") + 1
    for symbol in outline(text, language):
        assert 1 <= symbol.first_line <= symbol.last_line <= last


@pytest.mark.slow
def test_texts_that_were_read_are_not_kept() -> None:
    """A daemon reads every edit for weeks; the parser's own binding keeps what it is given."""
    text = "# a long comment\n" * 500
    parse_symbols(text, "python")
    tracemalloc.start()
    try:
        for number in range(60):
            parse_symbols(f"{text}x = {number}\n", "python")
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept_bytes < 45 * len(text)
