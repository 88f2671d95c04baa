"""Reading definitions line by line, for what has no grammar and for what a grammar cannot read.

A definition reaches to the next line that is indented no deeper, or to the next heading. The time
is linear. YAML is read so because its grammar can be made to crash the process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from observer.code.languages import FLAT, definition_name
from observer.code.tree import DEEPEST, DEEPEST_KEY
from observer.core.value import Value


class Symbol(Value):
    """A definition, where it stands and what it says.

    `path` is `name` behind the names around it: ``Cart.total``. Lines count from 1 and include the
    last. `signature` stands before the body of what can be called or inherited; `text` is all but
    what is defined inside. Both are without comments, and spaced alike.
    """

    name: str
    path: str
    kind: str
    first_line: int
    last_line: int
    signature: str = ""
    text: str = ""
    comments: str = ""


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"(?:=+|-{2,})[ \t\r]*$")
_FRONT = "---"
_CHARS = 100
_NO_TITLE = tuple("-*+>|`~#<")


def markdown_headings(lines: Sequence[str]) -> dict[int, str]:
    """Return the number of each line that is a heading, from 0, and its words."""
    found = {}
    fence = ""
    for number, line in enumerate(lines[_front(lines) :], _front(lines)):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
        elif match:
            fence = match[1]
        else:
            code, title = line.lstrip(), line.strip()
            name = definition_name(code, len(line) - len(code), "markdown")
            is_title = title and not title.startswith(_NO_TITLE)
            if name or (is_title and _UNDERLINE.match("".join(lines[number + 1 : number + 2]))):
                found[number] = name or title[:_CHARS]
    return found


def _front(lines: Sequence[str]) -> int:
    if lines and lines[0].rstrip() == _FRONT:
        for number, line in enumerate(lines[1:], 2):
            if line.rstrip() == _FRONT:
                return number
    return 0


_KEY = re.compile(r"(?P<quote>['\"]?)([^\s'\"#:{\[&*!|>%@`-][^:#'\"]{0,99})(?P=quote):(?=\s|$)")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")


def yaml_keys(lines: Sequence[str]) -> dict[int, str]:
    """Return the number of each line that begins with a key, from 0, and the key."""
    found = {}
    hidden = -1
    for number, line in enumerate(lines):
        code = line.strip()
        if not code or code.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if 0 <= hidden < indent:
            continue
        is_item = code.startswith("- ") or code == "-"
        hidden = indent if is_item or _BLOCK.search(code) else -1
        match = None if is_item else _KEY.match(code)
        if match:
            found[number] = match[2].strip()
    return found


MOST_LINES = 100_000
LINE_CHARS = 2_000

_CONTINUING = frozenset(")]}{")
_HASH, _DASHES, _SLASHES = ("#",), ("--",), ("//", "/*", "* ", "*/")
_COMMENTS = {
    **dict.fromkeys(("python", "ruby", "shell", "yaml", "toml", "elixir", "make", "r"), _HASH),
    **dict.fromkeys(("terraform", "docker", "just", "perl", "php"), (*_HASH, *_SLASHES)),
    **dict.fromkeys(("sql", "lua"), _DASHES),
    **dict.fromkeys(("markdown", "restructuredtext", "json", ""), ()),
}
_STATEMENTS = "sql"
_KEYED = frozenset({"json", "yaml"})
_SECTIONED = (FLAT - _KEYED) | {_STATEMENTS}
_UNSIGNED = _SECTIONED | _KEYED | {"css", "terraform", "protobuf", "make", "docker", "just"}
_OWN = {"markdown": markdown_headings, "yaml": yaml_keys}
_PARAMETERS = re.compile(r"\((?:[^()]++|\([^()]*+\))*+\)?")
_HEAD_ENDS = re.compile(r"[{=]|\bdo\b")


class _Open:
    def __init__(self, path: str, *, indent: int, first: int, signature: str) -> None:
        self.path = path
        self.indent = indent
        self.first = self.last = first
        self.signature = signature
        self.own: list[str] = []

    def symbol(self) -> Symbol:
        return Symbol(
            name=self.path.rpartition(".")[2],
            path=self.path,
            kind="definition",
            first_line=self.first + 1,
            last_line=self.last + 1,
            signature=self.signature,
            text=" ".join(" ".join(self.own).split()),
        )


def read_symbols(text: str, language: str) -> tuple[Symbol, ...]:
    """Return the definitions of a text, in the order in which they begin."""
    lines = [line[:LINE_CHARS] for line in text.split("\n", MOST_LINES)[:MOST_LINES]]
    named = _named(lines, language)
    if not named:
        return ()
    deepest = DEEPEST_KEY if language in _KEYED else DEEPEST
    comments = _COMMENTS.get(language, _SLASHES)
    found: list[_Open] = []
    inside: list[_Open] = []
    is_statements, is_sectioned = language == _STATEMENTS, language in _SECTIONED
    is_quoted = False
    # Nothing stands in a definition before the first; only in statements may a quotation begin.
    first = 0 if is_statements else next(iter(named))
    for number, line in enumerate(lines[first:], first):
        code = line.strip()
        if not code:
            continue
        indent = len(line) - len(line.lstrip())
        name = named.get(number, "")
        _leave(inside, code, indent, is_sectioned=is_sectioned, is_named=bool(name))
        if name and len(inside) < deepest:
            signature = "" if language in _UNSIGNED else _signature(line, name)
            path = ".".join([*(one.path for one in inside[-1:]), name.replace("::", ".")])
            inside.append(_Open(path, indent=indent, first=number, signature=signature))
            found.append(inside[-1])
        for one in inside:
            one.last = number
        if inside and not code.startswith(comments):
            inside[-1].own.append(code.partition(" #")[0] if language == "yaml" else code)
        is_quoted ^= is_statements and code.count("$$") % 2 == 1
        if is_statements and not indent and not is_quoted and code.endswith(";"):
            inside.clear()
    return tuple(one.symbol() for one in found)


def _named(lines: Sequence[str], language: str) -> dict[int, str]:
    if own := _OWN.get(language):
        return own(lines)
    named = {}
    for number, line in enumerate(lines):
        code = line.lstrip()
        name = definition_name(code, len(line) - len(code), language) if code else ""
        if name and (language != _STATEMENTS or code[:6].lower() == "create"):
            named[number] = name
    return named


def _leave(
    inside: list[_Open], code: str, indent: int, *, is_sectioned: bool, is_named: bool
) -> None:
    if is_sectioned:
        if is_named:
            inside.clear()
        return
    is_more = code[0] in _CONTINUING or code == "end" or code.startswith("- ")
    end = indent + 1 if is_more else indent
    while inside and inside[-1].indent >= end:
        inside.pop()


def _signature(line: str, name: str) -> str:
    called = _PARAMETERS.search(line, line.find(name))
    if called is None:
        return ""
    head = line[: called.end()] + _HEAD_ENDS.split(line[called.end() :], maxsplit=1)[0]
    return " ".join(head.split())
