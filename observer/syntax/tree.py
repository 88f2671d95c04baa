"""Finding definitions in a syntax tree.

The only home of tree-sitter. A grammar is loaded when the first text of its language comes. Work
is bounded by the parser's steps, not by a clock, so that a text always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from observer.syntax.grammars import GRAMMARS

MOST_STEPS = 3_000
"""Reports of progress after which a parser is stopped; each stands for about 100 characters."""


class _Reader(NamedTuple):
    parser: Parser
    query: Query


_NAME_CHARS = 100
_PARTS = frozenset({"name", "body", "owner"})
_NAMELESS = frozenset({"comment", "hidden", "decorator"})


class Found(NamedTuple):
    """A node that a pattern found; `start`, `body` and `end` are places in the source.

    `body` is where the signature ends, `owner` the type that the definition belongs to.
    """

    kind: str
    start: int
    body: int
    end: int
    name: str = ""
    owner: str = ""


def find(text: bytes, language: str) -> list[Found] | None:
    """Return what the grammar's patterns find, outermost first; None if the tree is broken."""
    root = _parsed(text, language)
    if root is None or root.has_error:
        return None
    best: dict[tuple[str, int], tuple[int, Found]] = {}
    for pattern, captures in QueryCursor(_reader(language).query).matches(root):
        for key, found in _read(text, captures):
            known = best.get(key)
            if known is None or pattern < known[0]:
                best[key] = pattern, found
    every = (found for _, found in best.values())
    return sorted(every, key=lambda found: (found.start, -found.end))


@cache
def _reader(language: str) -> _Reader:
    grammar = GRAMMARS[language]
    known = Language(getattr(import_module(grammar.package), grammar.function)())
    return _Reader(Parser(known), Query(known, grammar.query))


def _parsed(text: bytes, language: str) -> Node | None:
    parser = _reader(language).parser
    steps = iter(range(MOST_STEPS))
    try:
        return parser.parse(
            lambda start, _: text[start:],
            progress_callback=lambda _offset, _has_error: next(steps, None) is None,
        ).root_node
    except ValueError:  # stopped
        parser.reset()
        return None


def _read(text: bytes, captures: dict[str, list[Node]]) -> Iterator[tuple[tuple[str, int], Found]]:
    """Yield what one match found, by what tells it from other matches."""
    kind = next(name for name in captures if name not in _PARTS and not name.startswith("_"))
    node = captures[kind][0]
    if kind in _NAMELESS:
        yield (kind, node.start_byte), Found(kind, node.start_byte, node.end_byte, node.end_byte)
        return
    body = captures["body"][0].start_byte if "body" in captures else node.end_byte
    owner = captures["owner"][0].text if "owner" in captures else b""
    for declared in captures["name"]:
        name = _innermost(declared)
        yield (
            ("", name.start_byte),
            Found(
                kind,
                node.start_byte,
                body,
                node.end_byte,
                _decoded(text[name.start_byte : name.end_byte]),
                _decoded(owner or b""),
            ),
        )


def _innermost(name: Node) -> Node:
    """Return what a declarator declares, behind its pointers and parameters."""
    while inner := name.child_by_field_name("declarator") or _only_child(name):
        name = inner
    return name


def _only_child(node: Node) -> Node | None:
    is_wrapped = node.type in {"reference_declarator", "parenthesized_declarator"}
    return node.named_children[-1] if is_wrapped else None


def _decoded(text: bytes) -> str:
    return text[: 4 * _NAME_CHARS].decode("utf-8", "replace").strip()[:_NAME_CHARS]
