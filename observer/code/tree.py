"""Finding definitions in a syntax tree: the grammars, what in their trees is one, and the search.

Work is bounded by the parser's steps, not by a clock, so that a text always gets the same answer.

A query captures the definition under its kind, its ``@name``, and the ``@body`` before which its
signature ends. An earlier pattern goes before a later one that finds the same name. Beside the
kinds there are:

- ``@scope``: what names the definitions inside it, and is none itself;
- ``@owner``: the type that a function belongs to without standing in it;
- ``@prototype``: a function, unless it stands in another;
- ``@local``: a function that is a symbol only where no other definition is around it;
- ``@variable``: a constant, if it stands outermost in its file;
- ``@hidden``: nothing inside is a definition; ``@decorator``: belongs to what is behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from typing import NamedTuple, TypeAlias

from tree_sitter import Language, Node, Parser, Query, QueryCursor

CALLED = frozenset({"function", "class", "prototype"})
DATA_LANGUAGES = frozenset({"json", "yaml", "toml"})
DATA = frozenset({"key", "table"})
DEEPEST = 12
DEEPEST_KEY = 3


class Grammar(NamedTuple):
    """How a language is read.

    A piece of a file that begins inside a type or function is put behind `member` or `statement`,
    any text behind `before`; `filler` stands for a missing body.
    """

    package: str
    query: str
    member: str = ""
    statement: str = ""
    before: str = ""
    function: str = "language"
    is_indented: bool = False
    filler: str = ""


def _named(kind: str, nodes: str, end: str = "") -> str:
    """Return patterns of nodes, whose types all end alike, that have a name, and a body or none."""
    return "\n".join(
        f"({one}{end} name: (_) @name body: (_)? @body) @{kind}" for one in nodes.split()
    )


_PYTHON = f"""
(decorated_definition (function_definition name: (_) @name body: (_) @body)) @function
(decorated_definition (class_definition name: (_) @name body: (_) @body)) @class
{_named("function", "function_definition")}
{_named("class", "class_definition")}
(module (expression_statement (assignment left: (identifier) @name)) @constant
  (#match? @name "^_?[A-Z][A-Z0-9_]+$"))
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(module (type_alias_statement left: (type (identifier) @name)) @constant)
(comment) @comment
"""

_FUNCTION_VALUE = "[(arrow_function body: (_) @body) (function_expression body: (_) @body)]"
_IS_TEST = '(#any-of? @_call "describe" "it" "test" "suite" "context")'


_VARIABLE = """[
  (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @_value))
  (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @_value))
]"""
_UNIMPORTED = '(#not-match? @_value "^(await )?(require|import)[^a-z]")'
_FUNCTION = f"""
(_ (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE}) @function)"""
_JAVASCRIPT = f"""
{_named("function", "function_declaration generator_function_declaration method_definition")}
{_named("class", "class_declaration")}
(program {_FUNCTION})
(program (export_statement {_FUNCTION}))
(variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE}) @local
(program (expression_statement (assignment_expression left: (member_expression property: (_) @name)
  right: {_FUNCTION_VALUE}) @function))
(call_expression function: [(identifier) @_call (member_expression object: (identifier) @_call)
    (call_expression function: (member_expression object: (identifier) @_call))]
  arguments: (arguments . (string) @name . [(arrow_function) (function_expression)]) @body
  {_IS_TEST}) @test
(program (export_statement {_VARIABLE} @constant {_UNIMPORTED}))
(program {_VARIABLE} @constant (#match? @name "^[A-Z][A-Z0-9_]+$") {_UNIMPORTED})
(program {_VARIABLE} @variable {_UNIMPORTED})
(comment) @comment
(decorator) @decorator
"""
_ECMASCRIPT = f"""{_JAVASCRIPT}
(field_definition property: (_) @name value: {_FUNCTION_VALUE}) @function
"""
_TYPESCRIPT = f"""{_JAVASCRIPT}
(public_field_definition name: (_) @name value: {_FUNCTION_VALUE}) @function
{_named("class", "abstract_class interface enum", "_declaration")}
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
(class_body (method_signature name: (_) @name) @function)
(internal_module name: (_) @name) @scope
(type_alias_declaration name: (_) @name) @constant
"""

_GO = f"""
{_named("function", "function_declaration")}
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (_) @name body: (_)? @body) @function
(type_spec name: (_) @name type: (_) @body) @class
(type_alias name: (_) @name) @constant
(source_file (const_declaration . "const" . (const_spec name: (_) @name) @variable)
  (#match? @name "^[^A-Z]"))
(source_file (const_declaration (const_spec name: (_) @name) @constant))
(source_file (var_declaration (var_spec name: (_) @name) @variable) (#match? @name "^[^A-Z]"))
(source_file (var_declaration (var_spec name: (_) @name) @constant))
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name) @constant)))
(comment) @comment
"""

_RUST = f"""
{_named("function", "function function_signature", "_item")}
{_named("class", "struct enum union trait mod", "_item")}
(impl_item type: (_) @name) @scope
(macro_definition name: (_) @name) @macro
(type_item name: (_) @name) @constant
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(attribute_item) @decorator
(line_comment) @comment
(block_comment) @comment
"""

_JAVA = f"""
{_named("function", "method constructor compact_constructor", "_declaration")}
{_named("class", "class interface enum record annotation_type", "_declaration")}
(line_comment) @comment
(block_comment) @comment
"""

_C = """
(function_definition declarator: (_) @name body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(type_definition declarator: (_) @name) @type
(declaration declarator: (function_declarator) @name) @prototype
(declaration declarator: (pointer_declarator (function_declarator) @name)) @prototype
(preproc_def name: (_) @name) @macro
(preproc_function_def name: (_) @name) @macro
(comment) @comment
"""
_CPP = f"""{_C}
{_named("class", "class_specifier")}
(declaration declarator: (reference_declarator (function_declarator) @name)) @prototype
(field_declaration declarator: (function_declarator) @name) @prototype
(field_declaration declarator: (pointer_declarator (function_declarator) @name)) @prototype
(field_declaration declarator: (reference_declarator (function_declarator) @name)) @prototype
(alias_declaration name: (_) @name) @constant
"""

_RUBY = f"""
{_named("function", "method singleton_method")}
{_named("class", "class module")}
(assignment left: (constant) @name) @constant
(call method: (identifier) @_call
  arguments: (argument_list . [(string) (constant) (scope_resolution)] @name) block: (_) @body
  (#any-of? @_call "describe" "context" "it" "specify" "test" "feature" "scenario")) @test
(comment) @comment
"""

_PHP = f"""
{_named("function", "function_definition method_declaration")}
{_named("class", "class interface trait enum", "_declaration")}
(const_element . (name) @name) @constant
(function_call_expression function: (name) @_call
  arguments: (arguments . (argument (string) @name)) @body
  (#any-of? @_call "describe" "it" "test")) @test
(comment) @comment
"""

_CSHARP = f"""
{_named("function", "local_function_statement")}
{_named("function", "method constructor destructor", "_declaration")}
{_named("class", "class interface struct record enum", "_declaration")}
(property_declaration name: (_) @name accessors: (_) @body) @function
(property_declaration name: (_) @name value: (_) @body) @function
(delegate_declaration name: (_) @name) @function
(comment) @comment
"""

_SHELL = f"""
{_named("function", "function_definition")}
(comment) @comment
"""

_JSON = """
(pair key: (string (string_content) @name)) @key
(array) @hidden
(comment) @comment
"""

_TOML = """
(table . (_) @name) @table
(table_array_element . (_) @name) @table
(pair . (_) @name) @key
(inline_table) @hidden
(comment) @comment
"""

GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python", _PYTHON, statement="class _:", is_indented=True, filler="pass"
    ),
    "javascript": Grammar(
        "tree_sitter_javascript", _ECMASCRIPT, member="class _ {", statement="_() {"
    ),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TYPESCRIPT,
        member="class _ {",
        statement="_() {",
        function="language_tsx",
    ),
    "go": Grammar("tree_sitter_go", _GO, statement="func _() {"),
    "rust": Grammar("tree_sitter_rust", _RUST, member="impl _ {", statement="fn _() {"),
    "java": Grammar("tree_sitter_java", _JAVA, member="class _ {", statement="void _() {"),
    "c": Grammar("tree_sitter_c", _C, statement="void _() {"),
    "cpp": Grammar("tree_sitter_cpp", _CPP, member="class _ {", statement="void _() {"),
    "ruby": Grammar("tree_sitter_ruby", _RUBY),
    "php": Grammar(
        "tree_sitter_php",
        _PHP,
        member="class _ {",
        statement="function _() {",
        before="<?php ",
        function="language_php",
    ),
    "csharp": Grammar("tree_sitter_c_sharp", _CSHARP, member="class _ {", statement="void _() {"),
    "shell": Grammar("tree_sitter_bash", _SHELL, statement="_() {"),
    "json": Grammar("tree_sitter_json", _JSON, member="{"),
    "toml": Grammar("tree_sitter_toml", _TOML),
}
"""Language, as `languages.language_of` names it -> how it is read; others are read by lines."""


MOST_STEPS = 600
"""Reports of progress after which a parser is stopped; each stands for about 100 characters."""
STEP_BYTES = 18
LENIENT_BYTES = 128 << 10
"""Of a text that may be broken somewhere else; what recovers from an error takes quadratic time."""
LENIENT_QUERY_BYTES = 8 << 10
"""The same where all of it is looked at, and for no more than one answer."""
MOST_FOUND = 3_000
"""Nodes that a text may hold of what patterns look for."""
FOUND_BYTES = 10
COMPARED_BYTES = 4_096
"""What of a text is read at once for a pattern; a longer node is read in several steps."""
DEEPEST_NODE = 80
"""Levels of a tree that are searched; a method takes about three, and a deep tree much time."""


_NAME_CHARS = 100
_PARTS = frozenset({"name", "body", "owner"})
_NAMELESS = frozenset({"comment", "hidden", "decorator"})
_WRAPPING = frozenset({"reference_declarator", "parenthesized_declarator"})

Span: TypeAlias = tuple[int, int]


class FoundNode(NamedTuple):
    """A node that a pattern found, by places in the source; at `body` its signature ends."""

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

    With a `part`, only what it touches is looked for, and only there the tree must be sound.
    Raises: TooComplex (nor is there any sense in asking about more of this text).
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
    first, last = part or (0, len(text))
    every = (one for _, one in best.values() if one.start <= last and one.end >= first)
    return sorted(every, key=lambda found: (found.start, -found.end))


def find_captures(text: bytes, language: str, pattern: str) -> list[dict[str, list[Node]]]:
    """Return the nodes of each match of a pattern by their names in it, in the text's order.

    A text of more than `LENIENT_QUERY_BYTES` must not be broken anywhere. Raises: TooComplex (the
    text takes more work than is spent on one).
    """
    root = _parsed(text, language, lenient_bytes=LENIENT_QUERY_BYTES)
    if root is None:
        return []
    found = [captures for _, captures in _matches(root, _query(language, pattern), None)]
    return sorted(found, key=lambda one: min(node.start_byte for node in chain(*one.values())))


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
    kind = next(name for name in captures if name not in _PARTS and not name.startswith("_"))
    node = captures[kind][0]
    start, end = node.start_byte, node.end_byte
    if kind in _NAMELESS:
        yield (kind, start), FoundNode(kind, start, end, end)
        return
    body = captures["body"][0].start_byte if "body" in captures else end
    owner = _decoded(captures["owner"][0].text or b"") if "owner" in captures else ""
    for declared in captures["name"]:
        name = declared  # behind pointers and parameters of a declarator
        while inner := name.child_by_field_name("declarator") or (
            name.named_children[-1] if name.type in _WRAPPING else None
        ):
            name = inner
        called = _decoded(text[name.start_byte : name.end_byte])
        yield ("", name.start_byte), FoundNode(kind, start, body, end, called, owner)


def _decoded(text: bytes) -> str:
    return text[: 4 * _NAME_CHARS].decode("utf-8", "replace").strip()[:_NAME_CHARS]
