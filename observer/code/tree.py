"""Finding definitions in a syntax tree.

The only home of tree-sitter. A grammar is loaded when the first text of its language comes. Work
is bounded by the parser's steps, not by a clock, so that a text always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from typing import NamedTuple, TypeAlias

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from observer.code.grammars import GRAMMARS

MOST_STEPS = 600
"""Reports of progress after which a parser is stopped; each stands for about 100 characters."""
STEP_BYTES = 18
"""Of a long text, for which a parser may report progress once."""
LENIENT_BYTES = 128 << 10
"""Of a text that may be broken somewhere else; what recovers from an error takes quadratic time."""
LENIENT_QUERY_BYTES = 8 << 10
"""The same where all of it is looked at, and for no more than one answer."""
MOST_FOUND = 3_000
"""Nodes that a text may hold of what patterns look for."""
FOUND_BYTES = 10
"""Of a long text, for which it may hold one such node."""
COMPARED_BYTES = 4_096
"""What of a text is read at once for a pattern; a longer node is read in several steps."""
DEEPEST_NODE = 80
"""Levels of a tree that are searched; a method takes about three, and a deep tree much time."""


_NAME_CHARS = 100
_PARTS = frozenset({"name", "body", "owner"})
_NAMELESS = frozenset({"comment", "silent", "hidden", "decorator"})

Span: TypeAlias = tuple[int, int]
"""The places in a text where a part of it begins and ends."""


class FoundNode(NamedTuple):
    """A node that a pattern found; `start`, `body` and `end` are places in the source.

    `body` is where the signature ends, `owner` the type that the definition belongs to.
    """

    kind: str
    start: int
    body: int
    end: int
    name: str = ""
    owner: str = ""


class TooComplex(Exception):
    """A text takes more work than is spent on one."""


def find_nodes(text: bytes, language: str, part: Span | None = None) -> list[FoundNode] | None:
    """Return what the grammar's patterns find, outermost first; None if the tree is broken.

    Args:
        text: in UTF-8.
        language: one that has a grammar.
        part: with it, only what it touches is looked for, and only there the tree must be sound.

    Raises:
        TooComplex: nor is there any sense in asking about more of this text.
    """
    root = _parsed(text, language, lenient_bytes=LENIENT_BYTES if part else 0)
    if root is None or (part and _is_broken(root, part)):
        return None
    best: dict[tuple[str, int], tuple[int, FoundNode]] = {}
    for pattern, captures in _matches(root, _query(language, GRAMMARS[language].query), part):
        for key, found in _read(text, captures):
            known = best.get(key)
            if known is None or pattern < known[0]:
                best[key] = pattern, found
    every = (found for _, found in best.values() if not part or _is_near(found, part))
    return sorted(every, key=lambda found: (found.start, -found.end))


def find_captures(text: bytes, language: str, pattern: str) -> list[dict[str, list[Node]]]:
    """Return the nodes of each match of a pattern by their names in it, in the text's order.

    Args:
        text: in UTF-8; one of more than `LENIENT_QUERY_BYTES` must not be broken anywhere.
        language: one that has a grammar.
        pattern: a query of tree-sitter's.

    Raises:
        TooComplex: the text takes more work than is spent on one.
    """
    root = _parsed(text, language, lenient_bytes=LENIENT_QUERY_BYTES)
    if root is None:
        return []
    found = [captures for _, captures in _matches(root, _query(language, pattern), None)]
    return sorted(found, key=lambda one: min(node.start_byte for node in chain(*one.values())))


def _is_near(found: FoundNode, part: Span) -> bool:
    return found.start <= part[1] and found.end >= part[0]


@cache
def _language(name: str) -> Language:
    grammar = GRAMMARS[name]
    return Language(getattr(import_module(grammar.package), grammar.function)())


@cache
def _query(language: str, pattern: str) -> Query:
    return Query(_language(language), pattern)


@lru_cache(maxsize=4)  # what an edit leaves is what the next one finds
def _parsed(text: bytes, language: str, *, lenient_bytes: int) -> Node | None:
    """Return the root of a tree; None of a broken text that is longer than `lenient_bytes`."""
    steps = 0
    most_steps = max(MOST_STEPS, len(text) // STEP_BYTES)
    is_lenient = len(text) <= lenient_bytes

    def is_enough(_offset: int, has_error: bool) -> bool:  # noqa: FBT001 - as the parser calls it
        nonlocal steps
        steps += 1
        return (has_error and not is_lenient) or steps > most_steps

    lent: list[bytearray] = []
    is_parsed = False

    def read(start: int, _point: object) -> bytes | bytearray:
        if is_parsed:
            # What a pattern compares: asked for with each match, and must be bytes.
            return text[start : start + COMPARED_BYTES]
        lent.append(bytearray(text[start:]))
        return lent[-1]

    try:
        root = Parser(_language(language)).parse(read, progress_callback=is_enough).root_node
    except ValueError:
        if steps > most_steps:
            raise TooComplex from None
        return None
    finally:
        # tree-sitter 0.26 never lets go of what such a function returns to its parser.
        for part in lent:
            part.clear()
        is_parsed = True
    return None if root.has_error and not is_lenient else root


def _is_broken(root: Node, part: Span) -> bool:
    """Return True if a tree does not know what a part of its text is."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.start_byte > part[1] or node.end_byte < part[0]:
            continue
        if node.is_error or node.is_missing:
            return True
        waiting += [child for child in node.children if child.has_error]
    return False


def _matches(
    root: Node, query: Query, part: Span | None
) -> list[tuple[int, dict[str, list[Node]]]]:
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(DEEPEST_NODE)
    if part:
        cursor.set_byte_range(*part)
    matches = cursor.matches(root)
    if len(matches) > max(MOST_FOUND, root.end_byte // FOUND_BYTES):
        raise TooComplex
    return matches


def _read(
    text: bytes, captures: dict[str, list[Node]]
) -> Iterator[tuple[tuple[str, int], FoundNode]]:
    """Yield what one match found, by what distinguishes it from other matches."""
    kind = next(name for name in captures if name not in _PARTS and not name.startswith("_"))
    node = captures[kind][0]
    if kind in _NAMELESS:
        yield (
            (kind, node.start_byte),
            FoundNode(kind, node.start_byte, node.end_byte, node.end_byte),
        )
        return
    body = captures["body"][0].start_byte if "body" in captures else node.end_byte
    owner = captures["owner"][0].text if "owner" in captures else b""
    for declared in captures["name"]:
        name = _innermost(declared)
        yield (
            ("", name.start_byte),
            FoundNode(
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
