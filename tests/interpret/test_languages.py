from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.interpret import languages

LINES = [
    ("python", "def total(self):", "total"),
    ("python", "    async def fetch(x):", "fetch"),
    ("python", "class Cart(Base):", "Cart"),
    ("python", "defect = 1", ""),
    ("typescript", "export default async function* walk(", "walk"),
    ("typescript", "export const money = (x: number): string => {", "money"),
    ("typescript", "const handler = async x => x", "handler"),
    ("typescript", "export interface Props {", "Props"),
    ("typescript", "type Id<T> = string", "Id"),
    ("typescript", "  private async load(id: string): Promise<void> {", "load"),
    ("typescript", "  if (ready) {", ""),
    ("javascript", "it('adds up', () => {", "adds up"),
    ("javascript", "const x = 3", ""),
    ("go", "func (c *Cart) Total() int {", "Total"),
    ("go", "type Cart struct {", "Cart"),
    ("rust", "pub(crate) async fn run() {", "run"),
    ("rust", "impl<T> Display for Cart<T> {", "Cart"),
    ("rust", "macro_rules! vec {", "vec"),
    ("java", "  public static List<String> names(int x) {", "names"),
    ("java", "public final class Cart {", "Cart"),
    ("kotlin", "suspend fun load(id: Int)", "load"),
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
    ("ruby", "  def valid?", "valid?"),
    ("php", "  public function &load($x)", "load"),
    ("shell", "build() {", "build"),
    ("shell", "function deploy {", "deploy"),
    ("sql", "CREATE TABLE IF NOT EXISTS `orders` (", "orders"),
    ("markdown", "## Usage ##", "Usage"),
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
    ("elixir", "  defp walk(x) do", "walk"),
    ("", "fn main() void {", "main"),
]


@pytest.mark.parametrize(
    ("language", "line", "name"), LINES, ids=[f"{a}: {b}" for a, b, _ in LINES]
)
def test_a_defining_line_names_what_it_defines(language: str, line: str, name: str) -> None:
    text = line.lstrip()
    assert languages.definition(text, len(line) - len(text), language) == name


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("A.TSX", "typescript"),
        ("Dockerfile", "docker"),
        (".bashrc", ""),
        ("README", ""),
        ("a.unknown", ""),
    ],
)
def test_the_language_follows_from_the_name(path: str, language: str) -> None:
    assert languages.language_of(path) == language


@given(st.text(max_size=400), st.sampled_from([*sorted(set(languages.EXTENSIONS.values())), ""]))
def test_any_line_of_any_language_is_read(line: str, language: str) -> None:
    assert isinstance(languages.definition(line, 0, language), str)


@pytest.mark.parametrize("language", sorted(set(languages.EXTENSIONS.values())))
@pytest.mark.parametrize("sign", ["(", "a ", "<a", "public ", "[", "=", "\t", "type "])
def test_a_hostile_line_takes_no_time(language: str, sign: str) -> None:
    line = sign * 100_000
    for _ in range(20):
        languages.definition(line, 0, language)
