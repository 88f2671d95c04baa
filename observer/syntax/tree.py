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

MOST_STEPS = 600
"""Reports of progress after which a parser is stopped; each stands for about 100 characters."""
MOST_FOUND = 3_000
"""Nodes that a text may hold of what patterns look for."""
DEEPEST_NODE = 80
"""Levels of a tree that are searched; a method takes about three, and a deep tree much time."""


class _Reader(NamedTuple):
    language: Language
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


class TooMuch(Exception):
    """A text takes more work than is spent on one."""


def find(text: bytes, language: str) -> list[Found] | None:
    """Return what the grammar's patterns find, outermost first; None if the tree is broken.

    Raises:
        TooMuch: nor is there any sense in asking about more of this text.
    """
    root = _parsed(text, language)
    if root is None:
        return None
    best: dict[tuple[str, int], tuple[int, Found]] = {}
    for pattern, captures in _matches(root, language):
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
    return _Reader(known, Query(known, grammar.query))


def _parsed(text: bytes, language: str) -> Node | None:
    """Return the root of a sound tree; a parser is stopped where its tree begins to be broken."""
    steps = 0

    def is_enough(_offset: int, has_error: bool) -> bool:  # noqa: FBT001 - as the parser calls it
        nonlocal steps
        steps += 1
        return has_error or steps > MOST_STEPS

    try:
        root = (
            Parser(_reader(language).language)
            .parse(lambda start, _: text[start:], progress_callback=is_enough)
            .root_node
        )
    except ValueError:
        if steps > MOST_STEPS:
            raise TooMuch from None
        return None
    return None if root.has_error else root


def _matches(root: Node, language: str) -> list[tuple[int, dict[str, list[Node]]]]:
    cursor = QueryCursor(_reader(language).query)
    cursor.set_max_start_depth(DEEPEST_NODE)
    matches = cursor.matches(root)
    if len(matches) > MOST_FOUND:
        raise TooMuch
    return matches


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
