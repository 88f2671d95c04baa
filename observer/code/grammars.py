"""The grammars: which package reads a language, and what in its tree is a definition.

A query captures the definition under its kind, its ``@name``, and the ``@body`` before which its
signature ends. An earlier pattern goes before a later one that finds the same name. Beside the
kinds there are:

- ``@scope``: what names the definitions inside it, and is none itself;
- ``@owner``: the type that a function belongs to without standing in it;
- ``@hidden``: nothing inside is a definition;
- ``@prototype``: a function, unless it stands in another;
- ``@local``: a function that is a symbol of its own only where no other definition is around it;
- ``@variable``: a constant, if it stands outermost in its file;
- ``@decorator``: belongs to the definition behind it;
- ``@comment``: says nothing;
- ``@silent``: text or a pattern, in which no word is a name.
"""

from __future__ import annotations

from typing import NamedTuple

CALLED = frozenset({"function", "class", "prototype"})
"""Kinds with a signature."""
DATA_LANGUAGES = frozenset({"json", "yaml", "toml"})
"""Languages of keys."""
DATA = frozenset({"key", "table"})
"""Kinds that hold data: of what came or went only the outermost is named."""
DEEPEST = 12
"""Definitions inside each other that are distinguished."""
DEEPEST_KEY = 3
"""How many names the path of a key has at most."""


class Grammar(NamedTuple):
    """How a language is read.

    `member` and `statement` are what a piece of a file is put behind, so that it can be read where
    it begins inside a type, or inside a function; `before` is what every text needs before it,
    `filler` what stands for a body that is missing. `is_code` is false for languages of data.
    """

    package: str
    query: str
    member: str = ""
    statement: str = ""
    before: str = ""
    function: str = "language"
    is_indented: bool = False
    filler: str = ""
    is_code: bool = True


def _named(kind: str, *nodes: str) -> str:
    """Return patterns of nodes that have a name, and a body or none."""
    return "\n".join(f"({node} name: (_) @name body: (_)? @body) @{kind}" for node in nodes)


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
(string_content) @silent
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
{_named("function", "function_declaration", "generator_function_declaration", "method_definition")}
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
[(string_fragment) (regex_pattern) (jsx_text)] @silent
"""
_ECMASCRIPT = f"""{_JAVASCRIPT}
(field_definition property: (_) @name value: {_FUNCTION_VALUE}) @function
"""
_TYPESCRIPT = f"""{_JAVASCRIPT}
(public_field_definition name: (_) @name value: {_FUNCTION_VALUE}) @function
{_named("class", "abstract_class_declaration", "interface_declaration", "enum_declaration")}
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
[(interpreted_string_literal) (raw_string_literal) (rune_literal)] @silent
"""

_RUST = f"""
{_named("function", "function_item", "function_signature_item")}
{_named("class", "struct_item", "enum_item", "union_item", "trait_item", "mod_item")}
(impl_item type: (_) @name) @scope
(macro_definition name: (_) @name) @macro
(type_item name: (_) @name) @constant
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
(attribute_item) @decorator
(line_comment) @comment
(block_comment) @comment
[(string_content) (char_literal)] @silent
"""

_JAVA = f"""
{
    _named(
        "function",
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
    )
}
{
    _named(
        "class",
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    )
}
(line_comment) @comment
(block_comment) @comment
[(string_literal) (character_literal)] @silent
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
[(string_literal) (char_literal) (system_lib_string)] @silent
"""
_CPP = f"""{_C}
{_named("class", "class_specifier")}
(declaration declarator: (reference_declarator (function_declarator) @name)) @prototype
(field_declaration declarator: (function_declarator) @name) @prototype
(field_declaration declarator: (pointer_declarator (function_declarator) @name)) @prototype
(field_declaration declarator: (reference_declarator (function_declarator) @name)) @prototype
(alias_declaration name: (_) @name) @constant
(raw_string_literal) @silent
"""

_RUBY = f"""
{_named("function", "method", "singleton_method")}
{_named("class", "class", "module")}
(assignment left: (constant) @name) @constant
(call method: (identifier) @_call
  arguments: (argument_list . [(string) (constant) (scope_resolution)] @name) block: (_) @body
  (#any-of? @_call "describe" "context" "it" "specify" "test" "feature" "scenario")) @test
(comment) @comment
[(string_content) (heredoc_content)] @silent
"""

_PHP = f"""
{_named("function", "function_definition", "method_declaration")}
{
    _named(
        "class",
        "class_declaration",
        "interface_declaration",
        "trait_declaration",
        "enum_declaration",
    )
}
(const_element . (name) @name) @constant
(function_call_expression function: (name) @_call
  arguments: (arguments . (argument (string) @name)) @body
  (#any-of? @_call "describe" "it" "test")) @test
(comment) @comment
[(string_content) (text)] @silent
"""

_CSHARP = f"""
{
    _named(
        "function",
        "method_declaration",
        "constructor_declaration",
        "destructor_declaration",
        "local_function_statement",
    )
}
{
    _named(
        "class",
        "class_declaration",
        "interface_declaration",
        "struct_declaration",
        "record_declaration",
        "enum_declaration",
    )
}
(property_declaration name: (_) @name accessors: (_) @body) @function
(property_declaration name: (_) @name value: (_) @body) @function
(delegate_declaration name: (_) @name) @function
(comment) @comment
[(string_literal) (verbatim_string_literal) (raw_string_literal) (string_content)
  (character_literal)] @silent
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
        "tree_sitter_python",
        _PYTHON,
        statement="class _:",
        is_indented=True,
        filler="pass",
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
    "go": Grammar(
        "tree_sitter_go",
        _GO,
        statement="func _() {",
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        _RUST,
        member="impl _ {",
        statement="fn _() {",
    ),
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
    "shell": Grammar("tree_sitter_bash", _SHELL, statement="_() {", is_code=False),
    "json": Grammar("tree_sitter_json", _JSON, member="{", is_code=False),
    "toml": Grammar("tree_sitter_toml", _TOML, is_code=False),
}
"""Language, as `languages.language_of` names it -> how it is read; others are read by lines."""
