"""What an edit in the middle of a file did to its symbols, shown by both whole texts."""

from __future__ import annotations

import pytest

from observer.code.edits import MOST_CHARS, compare_files, compare_fragments, symbol_changes_of
from observer.code.outline import outline
from observer.core.value import SymbolChanges

FILLER = "{0} filler line that says nothing, far from every definition\n"
GO = (
    """package cart

import "fmt"

// MaxItems is how many fit.
const (
	MaxItems = 10
	minItems = 1
)

var limit = 3

type Cart struct {
	items []Item
}

func (c *Cart) Total() int {
	total := 0
"""
    + FILLER.format("\t//") * 30
    + """	for _, item := range c.items {
		total += item.price
	}
	return total
}

func main() {
	fmt.Println("start")
}
"""
)
SCRIPT = (
    """import { useState } from "react";

export const LIMIT = 3;
const cache = new Map();

interface Props {
  label: string;
}

export class Store {
  private rows: string[] = [];

  find(key: string) {
    const found = this.rows.find((row) => row === key);
"""
    + FILLER.format("    //") * 30
    + """    return found;
  }
}

export const Panel = ({ label }: Props) => {
  const [open, setOpen] = useState(false);
  const toggle = () => {
    setOpen(!open);
  };
  return <button onClick={toggle}>It's {label}</button>;
};

const api = {
  async load(id: string) {
    return fetch(id);
  },
};

const store = create(() => {
  function refresh() {
    return 1;
  }
  class Inner {}
  return refresh();
});

describe("Store", () => {
  const helper = () => 1;
  it("finds what's there", () => {
    expect(helper()).toBe(1);
  });
  it.each([1, 2])("counts %d", (n) => {
    expect(n).toBe(n);
  });
});

exports.legacy = function () {
  return 1;
};
"""
)
PYTHON = (
    '''"""Carts."""

import os

LIMIT = 3
app = make_app()


class Cart:
    """Holds items."""

    def total(self):
        def price(item):
            return item.price

'''
    + FILLER.format("        #") * 30
    + """        return sum(price(item) for item in self.items)

    # Empties it.
    def clear(self):
        self.items = []
"""
)
JAVA = """class Cart {
    int total() {
        Runnable r = new Runnable() {
            public void run() {
                go();
            }
        };
        return 1;
    }

    @Override
    public void clear() {
        items.clear();
    }
}
"""
RUST = """mod cart {
    /// Adds.
    pub fn add(a: i32) -> i32 {
        fn inner(a: i32) -> i32 {
            a + 1
        }
        inner(a)
    }
}

impl Cart {
    fn clear(&mut self) {
        self.items.clear();
    }
}
"""
RUBY = """RSpec.describe Cart do
  it "adds" do
    expect(1).to eq(1)
  end
end

class Cart
  def clear
    @items = []
  end
end
"""
PHP = "<?php\ntest('adds', function () {\n    return 1;\n});\n"

CASES = [
    pytest.param("go", GO, "total += item.price", "total -= item.price",
                 {"changed": ("Cart.Total",)}, id="go-method"),
    pytest.param("go", GO, "minItems = 1", "minItems = 2",
                 {"changed": ("minItems",)}, id="go-constant-of-a-group"),
    pytest.param("go", GO, "var limit = 3", "var limit = 4", {"changed": ("limit",)}, id="go-var"),
    pytest.param("go", GO, "	total := 0\n", "	type pair struct{}\n	total := 0\n",
                 {"changed": ("Cart.Total",)}, id="go-local-type"),
    pytest.param("typescript", SCRIPT, "return found;", "return found ?? null;",
                 {"changed": ("Store.find",)}, id="method"),
    pytest.param("typescript", SCRIPT, "setOpen(!open)", "setOpen(true)",
                 {"changed": ("Panel",)}, id="local-function"),
    pytest.param("typescript", SCRIPT, "return fetch(id)", "return fetch(id, {})",
                 {"changed": ("api.load",)}, id="method-of-an-object"),
    pytest.param("typescript", SCRIPT, "    return 1;\n  }\n  class", "    return 2;\n  }\n  class",
                 {"changed": ("store",)}, id="function-in-a-value"),
    pytest.param("typescript", SCRIPT, "class Inner {}", "class Inner { a = 1 }",
                 {"changed": ("store",)}, id="class-in-a-value"),
    pytest.param("typescript", SCRIPT, "new Map()", "new Map([[1, 2]])",
                 {"changed": ("cache",)}, id="variable"),
    pytest.param("typescript", SCRIPT, "expect(helper()).toBe(1)", "expect(helper()).toBe(2)",
                 {"changed": ("Store.finds what's there",)}, id="test"),
    pytest.param("typescript", SCRIPT, "toBe(n)", "toEqual(n)",
                 {"changed": ("Store.counts %d",)}, id="test-of-a-table"),
    pytest.param("typescript", SCRIPT, "helper = () => 1", "helper = () => 2",
                 {"changed": ("Store",)}, id="helper-of-tests"),
    pytest.param("typescript", SCRIPT, "exports.legacy = function () {\n  return 1",
                 "exports.legacy = function () {\n  return 2", {"changed": ("legacy",)},
                 id="exported-function"),
    pytest.param("typescript", SCRIPT, "import { useState }", "import { useMemo, useState }",
                 {}, id="import"),
    pytest.param("typescript", SCRIPT, "  label: string;", "  label: string;\n  size: number;",
                 {"changed": ("Props",)}, id="interface"),
    pytest.param("python", PYTHON, "return item.price", "return item.net",
                 {"changed": ("Cart.total",)}, id="python-local"),
    pytest.param("python", PYTHON, "make_app()", "make_app(1)", {"changed": ("app",)},
                 id="python-variable"),
    pytest.param("python", PYTHON, "# Empties it.", "# Takes all out.",
                 {"commented": ("Cart.clear",), "only": "comments"}, id="comment-above"),
    pytest.param("python", PYTHON, "filler line", "other line",
                 {"commented": ("Cart.total",), "only": "comments"}, id="comment-inside"),
    pytest.param("python", PYTHON, "sum(price(item) for item in self.items)",
                 "sum(\n            price(item) for item in self.items\n        )",
                 {"only": "layout"}, id="python-layout"),
    pytest.param("typescript", SCRIPT, "toBe(n)", "toBe(\n      n,\n    )",
                 {"only": "layout"}, id="layout"),
    pytest.param("java", JAVA, "go();", "stay();",
                 {"changed": ("Cart.total",)}, id="anonymous-class"),
    pytest.param("rust", RUST, "a + 1", "a + 2", {"changed": ("cart.add",)}, id="rust-local"),
    pytest.param("rust", RUST, "/// Adds.", "/// Adds one.",
                 {"commented": ("cart.add",), "only": "comments"}, id="rust-comment"),
    pytest.param("ruby", RUBY, "eq(1)", "eq(2)", {"changed": ("Cart.adds",)}, id="ruby-test"),
    pytest.param("php", PHP, "return 1", "return 2", {"changed": ("adds",)}, id="php-test"),
    pytest.param("kotlin", "fun a() {\n    b()\n}\n", "b()", "c()", {"changed": ("a",)},
                 id="by-lines"),
    pytest.param("json", '{"a": {"b": 1}, "c": 2}\n', '"b": 1', '"b": 3', {"changed": ("a.b",)},
                 id="data"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "old", "new", "became"), CASES)
def test_an_edit_names_the_symbol_it_is_in(
    language: str, text: str, old: str, new: str, became: dict[str, tuple[str, ...]]
) -> None:
    changed = text.replace(old, new)
    assert text != changed
    found = compare_files(text, changed, language)
    assert found == SymbolChanges(**became)  # type: ignore[arg-type] # a table


def test_a_new_file_adds_its_symbols_and_what_is_the_same_did_not_change() -> None:
    added = compare_files("", RUST, "rust")
    removed = compare_files(RUST, "", "rust")
    assert added
    assert removed
    assert added.added == removed.removed == ("cart", "cart.add", "Cart.clear")
    assert compare_files(GO, GO, "go") == SymbolChanges()
    first, second = "def a():\n    return 1\n\n\n", "def b():\n    return 2\n\n\n"
    assert compare_files(first + second, second + first, "python") == SymbolChanges()


def test_a_file_is_read_where_its_tree_is_sound_else_by_its_lines() -> None:
    text = GO + "\nfunc broken( {\n"
    found = compare_files(text, text.replace("item.price", "item.net"), "go")
    assert found
    assert found.changed == ("Cart.Total",)
    old = "func A() {\n\tx = = 1\n}\n"
    found = compare_files(old, old.replace("1", "2"), "go")
    assert found == SymbolChanges(changed=("A",))
    text = "def a():\n    return 1\n" + "a;" * 20_000
    found = compare_files(text, text.replace("return 1", "return 2"), "python")
    assert found
    assert found.changed == ("a",)


@pytest.mark.parametrize("side", [0, 1], ids=["before", "after"])
def test_a_file_that_is_broken_at_the_change_is_read_by_its_lines(side: int) -> None:
    broken, whole = "def a(:\n    return 1\n", "def a():\n    return 1\n"
    found = compare_files(*((broken, whole) if side == 0 else (whole, broken)), "python")
    assert found
    assert found.resigned == ("a",)


def test_a_file_beyond_all_size_and_a_variable_of_a_piece_of_python_are_left_out() -> None:
    text = "x = 1\n" * (MOST_CHARS // 6 + 1)
    assert compare_files(text, text + "y", "python") is None
    assert symbol_changes_of("a.py", text, text + "y") is None
    assert compare_fragments([("go()\na = 1\n", "go()\na = 2\n")], "python").changed == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1\n" * 20_000, id="many-lines"),
        pytest.param("{" * 300_000, id="deep-braces"),
        pytest.param("f(a<b, c>(d));" * 20_000, id="ambiguous"),
        pytest.param("`${" * 100_000, id="templates"),
        pytest.param("//\n" * 100_000, id="comments"),
    ],
)
@pytest.mark.parametrize("language", ["python", "typescript", "cpp", "kotlin"])
def test_a_hostile_file_is_compared_in_time(language: str, text: str) -> None:
    changed = text[: len(text) // 2] + "y" + text[len(text) // 2 :]
    found = compare_files(text, changed, language)
    assert found == compare_files(text, changed, language)


def test_a_symbol_of_a_large_file_is_found() -> None:
    methods = "".join(
        f"  method{number}(a: number) {{\n    return a + {number};\n  }}\n\n"
        for number in range(6_000)
    )
    text = f"export class Large {{\n{methods}}}\n"
    assert len(text) > 256 << 10
    found = [one for one in outline(text, "typescript") if one.path == "Large.method5000"]
    assert [text.split("\n")[one.first_line - 1] for one in found] == ["  method5000(a: number) {"]


PIECES = [
    pytest.param("const a = 1;", "const a = 2;", (), id="may-be-local"),
    pytest.param("go();\nconst a = 1;", "go();\nconst a = 2;", ("a",), id="outermost"),
    pytest.param("  go();\n  const a = 1;", "  go();\n  const a = 2;", (), id="local"),
    pytest.param("const a = {\n  b: 1,\n};", "const a = {\n  b: 2,\n};", ("a",), id="closed"),
    pytest.param("const a = [\n  1,\n  ];", "const a = [\n  2,\n  ];", (), id="closed-inside"),
    pytest.param("export const a = 1;", "export const a = 2;", ("a",), id="exported"),
    pytest.param("const LIMIT = 1;", "const LIMIT = 2;", ("LIMIT",), id="constant"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "changed"), PIECES)
def test_a_variable_of_a_piece_may_count(old: str, new: str, changed: tuple[str, ...]) -> None:
    assert compare_fragments([(old, new)], "typescript").changed == changed
