"""Which declarations a change of a text touches: the oracle's own walk over a syntax tree.

Declarations are those at the top of a file and the members of types; what is declared inside a
function is nobody's business, but that a nested function is named is no fault.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import NamedTuple

from tree_sitter import Language, Node, Parser

_GRAMMARS = {
    ".go": ("tree_sitter_go", "language"),
    ".py": ("tree_sitter_python", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".js": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
}
_NAMES_OF_FUNCTIONS = (
    "function_declaration generator_function_declaration function_definition "
    "method_definition method_declaration abstract_method_signature method_signature "
    "function_signature"
)
_FUNCTIONS = frozenset(_NAMES_OF_FUNCTIONS.split())
_NAMES_OF_TYPES = (
    "class_declaration abstract_class_declaration class_definition interface_declaration "
    "enum_declaration type_alias_declaration type_spec type_alias internal_module"
)
_TYPES = frozenset(_NAMES_OF_TYPES.split())
_VALUES = frozenset(["variable_declarator", "const_spec", "var_spec", "assignment"])
_FIELDS = frozenset({"public_field_definition", "field_definition"})
"""Members that are declarations of their own where they run; else their type is what changed."""
_DECLARED = _FUNCTIONS | _TYPES | _VALUES | _FIELDS
_TESTS = re.compile(r"(?:describe|context|suite|it|test|specify)(?:\.\w+)*$")
_VALUES_THAT_RUN = frozenset({"arrow_function", "function_expression", "function"})
_COMMENT = re.compile(r"\s*(?://|#|/?\*|<!--|\"\"\")")
_WORD = re.compile(r"\w")


class Touched(NamedTuple):
    """The names that must be shown of a change, and those that may be."""

    required: frozenset[str]
    allowed: frozenset[str]


class _Span(NamedTuple):
    name: str
    first: int
    last: int
    is_local: bool


def is_known(path: str) -> bool:
    """Return True if the language of a file is read here."""
    return PurePath(path).suffix in _GRAMMARS


def touched(path: str, before: str, after: str) -> Touched:
    """Return the declarations that a change of a file touches."""
    suffix = PurePath(path).suffix
    old, new = before.split("\n"), after.split("\n")
    gone, come = _changed(old, new)
    moved = Counter(old[line].strip() for line in gone) & Counter(
        new[line].strip() for line in come
    )
    required: set[str] = set()
    allowed: set[str] = set()
    for text, lines, places in ((before, old, gone), (after, new, come)):
        spans = list(_spans(suffix, text))
        for place in places:
            words = lines[place]
            within = [each for each in spans if each.first <= place <= each.last]
            allowed |= {each.name for each in within}
            is_change = _WORD.search(words) and not _COMMENT.match(words)
            if is_change and not moved[words.strip()]:
                required |= {each.name for each in within[-1:] if not each.is_local}
                if within and within[-1].is_local:
                    required |= {each.name for each in within if not each.is_local}
    return Touched(frozenset(required), frozenset(allowed))


def _changed(old: list[str], new: list[str]) -> tuple[list[int], list[int]]:
    gone: list[int] = []
    come: list[int] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, *span in matcher.get_opcodes():
        if tag != "equal":
            gone += range(span[0], span[1])
            come += range(span[2], span[3])
    return gone, come


@cache
def _parser(suffix: str) -> Parser:
    module, language = _GRAMMARS[suffix]
    return Parser(Language(getattr(import_module(module), language)()))


@cache
def _spans(suffix: str, text: str) -> tuple[_Span, ...]:
    """Return the declarations of a text, outer ones before those inside them."""
    root = _parser(suffix).parse(text.encode()).root_node
    return tuple(_within(root, "", is_local=False))


def _within(node: Node, owner: str, *, is_local: bool) -> Iterator[_Span]:
    for child in node.named_children:
        name = _test(child) or (_name(child) if child.type in _DECLARED else "")
        is_field = child.type in _FIELDS or (child.type == "assignment" and bool(owner))
        if is_field and not _runs(child):
            name = ""
        is_test = child.type == "call_expression"
        if not name or (is_local and not (_runs(child) or is_test)):
            is_body = is_local or child.type in _VALUES_THAT_RUN or child.type == "lambda"
            yield from _within(child, owner, is_local=is_body)
            continue
        receiver = _receiver(child)
        full = ".".join(filter(None, (receiver or owner, name)))
        outer = _outermost(child)
        yield _Span(full, outer.start_point[0], outer.end_point[0], is_local or is_test)
        is_inside = is_local or is_test or child.type in _FUNCTIONS or _runs(child)
        inner = full if is_test or child.type in _TYPES else owner
        yield from _within(child, inner, is_local=is_inside)


def _name(node: Node) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("left")
    if named is None or named.type in {"object_pattern", "array_pattern", "attribute", "subscript"}:
        return ""
    return (named.text or b"").decode()


def _test(node: Node) -> str:
    """Return the title of a test or a group of tests; they may be shown, and need not be."""
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    given = node.child_by_field_name("arguments") if called else None
    if called is None or given is None or not given.named_child_count:
        return ""
    title = given.named_children[0]
    is_test = _TESTS.match((called.text or b"").decode()) and "string" in title.type
    return (title.text or b"").decode().strip("'\"`") if is_test else ""


def _runs(node: Node) -> bool:
    if node.type in _FUNCTIONS:
        return True
    value = node.child_by_field_name("value")
    return value is not None and value.type in _VALUES_THAT_RUN


def _receiver(node: Node) -> str:
    """Return the type of a Go method."""
    received = node.child_by_field_name("receiver")
    if received is None:
        return ""
    found = re.search(rb"\*?\s*(\w+)(?:\[[^\]]*\])?\s*\)$", received.text or b"")
    return found[1].decode() if found else ""


def _outermost(node: Node) -> Node:
    """Return what a declaration is wrapped in: ``export const x = …``, decorators."""
    wrappers = {"export_statement", "lexical_declaration", "variable_declaration"}
    wrappers |= {"decorated_definition", "expression_statement", "type_declaration"}
    while node.parent and node.parent.type in wrappers and node.parent.named_child_count <= 2:
        node = node.parent
    return node
