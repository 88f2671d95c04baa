"""Languages: which file is in which, what is torn, and the calls that a script writes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.code import languages
from observer.code.literals import MOST, MOST_CHARS, method_calls

LINES = [
    ("python", "def total(self):", "total"),
    ("python", "    async def fetch(x):", "fetch"),
    ("python", "defect = 1", ""),
    ("python", "LIMIT: int = 3", "LIMIT"),
    ("python", "    RED = 1", ""),
    ("python", "def list(self):", "list"),
    ("typescript", "export default async function* walk(", "walk"),
    ("typescript", "export const money = (x: number): string => {", "money"),
    ("typescript", "const handler = async x => x", "handler"),
    ("typescript", "export interface Props {", "Props"),
    ("typescript", "type Id<T> = string", "Id"),
    ("typescript", "  private async load(id: string): Promise<void> {", "load"),
    ("typescript", "  if (ready) {", ""),
    ("javascript", "it('adds up', () => {", "adds up"),
    ("javascript", "const x = 3", ""),
    ("javascript", "const LIMIT = 3", "LIMIT"),
    ("javascript", "export const limit = 3", "limit"),
    ("javascript", "const schema = object({", "schema"),
    ("javascript", "  const schema = object({", ""),
    ("javascript", "  *items(first = 1) {", "items"),
    ("javascript", "  #count() {", "#count"),
    ("javascript", "export default class extends Base {", ""),
    ("go", "func (c *Cart) Total() int {", "Total"),
    ("go", "type Cart struct {", "Cart"),
    ("go", "var Default = New()", "Default"),
    ("go", "\tvar total int", ""),
    ("rust", "pub(crate) async fn run() {", "run"),
    ("rust", "impl<T> Display for Cart<T> {", "Cart"),
    ("rust", "macro_rules! vec {", "vec"),
    ("rust", "unsafe impl<'a> From<&'a str> for Cart {", "Cart"),
    ("rust", "pub(in crate::shop) static mut COUNT: u8 = 0;", "COUNT"),
    ("rust", "    const ZERO: u8 = 0;", ""),
    ("java", "  public static List<String> names(int x) {", "names"),
    ("java", "public final class Cart {", "Cart"),
    ("java", "  private static final Cart EMPTY = new Cart(", ""),
    ("java", "  synchronized (lock) {", ""),
    ("kotlin", "suspend fun load(id: Int)", "load"),
    ("kotlin", "enum class Size(val id: Int) {", "Size"),
    ("kotlin", "class Cart: Base()", "Cart"),
    ("swift", "  class func total() -> Int {", "total"),
    ("csharp", "namespace Shop.Cart {", "Shop.Cart"),
    ("csharp", "  internal async Task<int> RunAsync()", "RunAsync"),
    ("c", "static int add(int a, int b)", "add"),
    ("c", "struct cart {", "cart"),
    ("c", "#define LIMIT 3", "LIMIT"),
    ("c", "int add(int a);", ""),
    ("c", "  call(a, b)", ""),
    ("c", "call(a)", ""),
    ("cpp", "else if (a)", ""),
    ("cpp", "void Cart::total(int x) const {", "Cart::total"),
    ("cpp", "Cart::Cart(int x)", "Cart::Cart"),
    ("cpp", "void Cart<T>::total() {", "Cart<T>::total"),
    ("cpp", "bool operator==(const Cart& a) {", "operator=="),
    ("cpp", "enum class Size : char { small };", "Size"),
    ("cpp", "  struct cart *first,", ""),
    ("cpp", "struct cart all[] = {", ""),
    ("c", "typedef int (*total)(int,", ""),
    ("objective-c", "int total(int a) {", "total"),
    ("ruby", "  def valid?", "valid?"),
    ("php", "  public function &load($x)", "load"),
    ("elixir", "  def valid?(x) do", "valid?"),
    ("shell", "build() {", "build"),
    ("shell", "function deploy {", "deploy"),
    ("sql", "CREATE TABLE IF NOT EXISTS `orders` (", "orders"),
    ("markdown", "## Usage ##", "Usage"),
    ("markdown", "## [1.0] and `more`", "[1.0] and `more`"),
    ("markdown", "    # a comment in code", ""),
    ("markdown", "#hashtag", ""),
    ("toml", "[tool.ruff]", "tool.ruff"),
    ("yaml", "jobs:", "jobs"),
    ("yaml", "  build:", ""),
    ("json", '  "name": "x",', "name"),
    ("json", '          "deep": 1', ""),
    ("make", "test: build", "test"),
    ("make", "A := 1", ""),
    ("css", ".button:hover {", ".button:hover"),
    ("lua", "local function init()", "init"),
    ("r", "mean2 <- function(x)", "mean2"),
    ("restructuredtext", "function scope is inner scope", ""),
    ("", "fn main() void {", "main"),
    ("", "type of the answer", ""),
]


def test_a_defining_line_names_what_it_defines() -> None:
    for language, line, name in LINES:
        text = line.lstrip()
        found = languages.definition_name(text, len(line) - len(text), language)
        assert found == name, (language, line)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        (r"C:\p\A.TSX", "typescript"),
        ("Dockerfile", "docker"),
        ("rules.mk", "make"),
        (".bashrc", ""),
        ("a.unknown", ""),
    ],
)
def test_the_language_follows_from_the_name(path: str, language: str) -> None:
    assert languages.language_of(path) == language


@pytest.mark.parametrize("sign", ["(", "a ", "<a", "public ", "[", "=", "\t", "type "])
def test_of_a_hostile_line_only_the_beginning_is_read(sign: str) -> None:
    for language in set(languages.EXTENSIONS.values()):
        name = languages.definition_name(sign * 100_000, 0, language)
        assert name == languages.definition_name(sign * 300, 0, language), language


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("1", 1),
        ("-2.5", -2.5),
        ("1_000", 1000),
        ("[true, false, null, undefined]", [True, False, None, None]),
        ("[1, /* two */ 2,]", [1, 2]),
        ("{a: 1, 'b c': [{d: 'e'}]}", {"a": 1, "b c": [{"d": "e"}]}),
        ("{a: 1, ...more, b() {}, c: f(2), [d]: 3}", {"a": 1, "[d]": 3}),
        ("'\\ud83d\\ude00 \\ud83d'", "😀 \N{REPLACEMENT CHARACTER}"),
        ("'a\\\nb\\t\\q\\u{110000}'", "ab\tq"),
        ("`a\nb`", "a\nb"),
        ("String.raw`a\\n`", "a\\n"),
        ("['a', 'b'].join(' && ')", "a && b"),
        ("['a', 'b'].join()", "a,b"),
        ("/* first */ 'x'", "x"),
        ("'a tools.read(1) b'", "a tools.read(1) b"),
    ],
)
def test_a_value_that_is_written_out_is_known(argument: str, value: Any) -> None:
    assert method_calls(f"const r = await tools.read({argument}, 2);", "tools") == [("read", value)]


@pytest.mark.parametrize(
    "script",
    [
        "tools.read()",
        "tools.read(x)",
        "tools.read(1e5)",
        "tools.read(12345678901234567890)",
        "tools.read(-x)",
        "tools.read('a' + 'b')",
        "tools.read(`a${b}`)",
        "tools.read(String.raw`a${b}`)",
        "tools.read(String.raw('a'))",
        "tools.read(f('a'))",
        "tools.read(f`a`)",
        "tools.read('a'.join('b'))",
        "tools.read(['a'].join(1))",
        "tools.read(['a'].slice(1))",
        "tools.read([x])",
        f"tools.read({'[' * 30}{']' * 30})",
        "others.read(1)",
        "read(1)",
        "// tools.read(1)",
        "let x = 1; let x = f(); tools.read(x)",
        f"tools.read('{'x' * MOST_CHARS}')",
        f"{'[' * 9_000} tools.read(1)",
        "t.a(1);" * 5_000 + "tools.read(1)",
    ],
)
def test_what_is_computed_or_too_much_is_no_call(script: str) -> None:
    assert method_calls(script, "tools") == []


def test_calls_come_in_their_order_with_the_values_of_names_as_far_as_they_can_be_read() -> None:
    script = "const a = 'x', b = {a};\ntools.read(b); tools.read({c: a});"
    assert [given for _, given in method_calls(script, "tools")] == [{"a": "x"}, {"c": "x"}]
    script = "await Promise.all([tools.a(1), tools.b(2)]);\nif (x) { tools.c(3) }"
    assert [method for method, _ in method_calls(script, "tools")] == ["a", "b", "c"]
    assert method_calls("tools.a(1);\nconst r = tools.b({c: 2", "tools")[0] == ("a", 1)
    assert len(method_calls("tools.a(1);" * (MOST + 1), "tools")) == MOST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON, st.booleans())
def test_json_is_written_out(value: Any, is_ascii: bool) -> None:
    said = json.dumps(value, ensure_ascii=is_ascii)
    assert method_calls(f"tools.a({said})", "tools") == [("a", value)]
