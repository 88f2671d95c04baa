"""Which language a file is in, and which of its lines define a name.

A definition is found by its line alone, of bounded length, so the time is linear in the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from observer.core.patterns import lazy_pattern
from observer.core.text import word_set

EXTENSIONS = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typescript"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "cpp"),
    **dict.fromkeys(("m", "mm"), "objective-c"),
    **dict.fromkeys(("sh", "bash", "zsh", "fish"), "shell"),
    **dict.fromkeys(("md", "mdx", "markdown"), "markdown"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("html", "htm"), "html"),
    **dict.fromkeys(("css", "scss", "less"), "css"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("tf", "hcl"), "terraform"),
    **dict.fromkeys(("ini", "cfg"), "ini"),
    "cs": "csharp",
    "mk": "make",
    "pl": "perl",
    "proto": "protobuf",
    "rb": "ruby",
    "rs": "rust",
    "rst": "restructuredtext",
    "dart": "dart",
    "go": "go",
    "groovy": "groovy",
    "java": "java",
    "json": "json",
    "lua": "lua",
    "php": "php",
    "r": "r",
    "scala": "scala",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "toml": "toml",
    "vue": "vue",
    "zig": "zig",
}
"""Extension (lower case) -> language; the table from which language concepts follow."""

FILE_NAMES = {"dockerfile": "docker", "makefile": "make", "justfile": "just"}

FLAT = frozenset({"markdown", "toml", "ini", "yaml"})


IDENTIFIER = lazy_pattern(r"[A-Za-z_$][\w$]{3,60}")

KEYWORDS = word_set(
    """
    False None String True abstract and any args async await bool boolean break case catch char
    class const continue
    default def del delete do double echo elif else elseif end enum esac except export extends
    false final finally float for foreach from func function global goto if impl implements import
    in include instanceof int interface is isinstance kwargs lambda len let list local long match
    mod module namespace new nil none not null number object of or package pass print private
    protected pub public raise range require return self set short sizeof static std str string
    struct super switch template then this throw throws trait true try tuple type typedef typeof
    undefined union unsigned use using var vector virtual void when where while with yield
    """
)
"""Words of programming languages that name nothing when they stand in a text."""

_LINE_CHARS = 300
_NAME_CHARS = 100


class _Grammar(NamedTuple):
    """The lines that define the last group that matched: in the first column, and behind it."""

    outermost: re.Pattern[str]
    inner: re.Pattern[str]
    deepest: int


def _grammar(
    *anywhere: str, outermost: tuple[str, ...] = (), deepest: int = _LINE_CHARS
) -> _Grammar:
    return _Grammar(
        lazy_pattern("|".join((*anywhere, *outermost))), lazy_pattern("|".join(anywhere)), deepest
    )


_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async"
    r"|sealed|synchronized|native|partial|suspend|inline|open|inner|data|case|const|export|default"
    r"|declare|readonly|unsafe|extern|operator|pub(?:\([\w: ]+\))?)[ \t]+){0,6}"
)
_NO_STATEMENT = (
    r"(?!(?:async|await|case|catch|class|do|else|for|foreach|function|goto|if|lock|namespace|new"
    r"|return|super|switch|synchronized|throw|typeof|using|while|with|yield)\b)"
)
"""What stands before a parenthesis, or before a function's type and name, is none of these."""
_NAME = r"([\w$]+(?:(?:\.|::)[\w$]+)*)"
_ENDS = r"[ \t\r]*$"

_SCRIPT = _grammar(
    _MODIFIERS + r"function\b[ \t]*\*?[ \t]*([\w$]+)",
    _MODIFIERS + r"(?:class|interface|enum|namespace)[ \t]+(?!extends\b)([\w$.]+)",
    _MODIFIERS + r"type[ \t]+([\w$]+)[ \t]*[<=]",
    r"(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[^=]{0,120}="
    r"[ \t]*(?:async[ \t]*)?(?:function\b|\([^()]*\)[^=]{0,80}=>|[\w$]+[ \t]*=>)",
    r"(?:(?:static|async|get|set|public|private|protected|override)[ \t]+){0,4}(?:\*[ \t]*)?"
    + _NO_STATEMENT
    + r"(#?[\w$]+)(?:<[^<>()]{0,80}>)?[ \t]*\([^()]*\)[^;(){}]{0,80}\{"
    + _ENDS,
    r"(?:describe|it|test)\([ \t]*['\"`]([^'\"`]{1,100})",
    outermost=(
        r"(?:export[ \t]+(?:const|let|var)|var)[ \t]+([\w$]+)[^=]{0,120}=",
        r"const[ \t]+([A-Z][A-Z0-9_]+)\b[^=]{0,120}=",
        r"(?:const|let)[ \t]+([\w$]+)[^=]{0,120}=[^;]*[(\[{]" + _ENDS,
    ),
)
_JAVA = _grammar(
    _MODIFIERS + r"(?:enum[ \t]+class|fun[ \t]+interface|class(?![ \t]+func\b)|interface|enum"
    r"|record|struct|trait|object|protocol|extension|namespace|module|actor)[ \t]+" + _NAME,
    _MODIFIERS + r"(?:class[ \t]+)?(?:fun|func|def)[ \t]+(?:<[^>]*>[ \t]*)?" + _NAME,
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async"
    r"|synchronized|native)[ \t]+){1,5}(?:[\w<>\[\],.?]+[ \t]+){0,3}"
    + _NO_STATEMENT
    + r"(\w+)[ \t]*\(",
)
_MEMBER = r"(?:(?:<[^<>()]{0,80}>)?::~?\w+)"
_OPERATOR = r"(?:(?<=operator)[^\w\s(]{1,3})?"
_C = _grammar(
    r"(?:typedef[ \t]+)?(?:enum[ \t]+class|class|struct|enum|union|namespace)[ \t]+"
    r"(\w+(?:::\w+)*)[ \t]*(?:final\b[ \t]*)?(?:[:{<].*)?" + _ENDS,
    r"#[ \t]*define[ \t]+(\w+)",
    outermost=(
        _NO_STATEMENT + r"[A-Za-z_][\w \t*&<>,:~]{0,200}?[ \t*&]"
        rf"(~?\w+{_MEMBER}{{0,9}}{_OPERATOR})[ \t]*\((?![*^])[^;{{]*(?:\{{|$)",
        rf"(\w+{_MEMBER}{{1,9}}{_OPERATOR})[ \t]*\([^;{{]*(?:\{{|$)",
    ),
)
_RUST = _grammar(
    _MODIFIERS + r"(?:fn|struct|enum|trait|mod|union|type)[ \t]+(\w+)",
    _MODIFIERS + r"static[ \t]+(?:mut[ \t]+)?(\w+)",
    r"(?:unsafe[ \t]+)?impl\b(?:<[^>]*>)?[ \t]+(?:[\w:<>, &']{1,80}[ \t]for[ \t]+)?(\w+)",
    r"macro_rules![ \t]+(\w+)",
    outermost=(r"(?:pub(?:\([\w: ]+\))?[ \t]+)?const[ \t]+(\w+)",),
)
_SQL = _grammar(
    r"(?i:(?:create|alter|drop)[ \t]+(?:or[ \t]+replace[ \t]+)?"
    r"(?:(?:unique|temp|temporary|materialized|virtual)[ \t]+){0,2}"
    r"(?:table|view|index|function|procedure|trigger|type|schema)[ \t]+"
    r"(?:if[ \t]+(?:not[ \t]+)?exists[ \t]+)?)[\"`\[]?(\w+(?:[\"`\]]?\.[\"`\[]?\w+)*)"
)
_SHARED = _grammar(
    _MODIFIERS + r"(?:function|func|fun|fn|def|defp|defmodule|sub|proc|macro|module|class|struct"
    r"|interface|enum|trait|type|service|message|resource|rpc)[ \t]+"
    r"\"?(?!(?:and|as|for|in|is|of|or|the|to|with)\b)([\w$](?:[\w.$:-]*[\w$])?)"
)
"""What most languages share, for those that have no grammar of their own."""

_GRAMMARS = {
    "python": _grammar(
        r"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)",
        outermost=(r"([A-Z][A-Z0-9_]+)[ \t]*(?::[^=]*)?=(?!=)",),
    ),
    **dict.fromkeys(("javascript", "typescript", "vue", "svelte"), _SCRIPT),
    **dict.fromkeys(("java", "csharp", "kotlin", "scala", "swift", "dart", "groovy"), _JAVA),
    **dict.fromkeys(("c", "cpp", "objective-c"), _C),
    "rust": _RUST,
    "sql": _SQL,
    "go": _grammar(
        r"func[ \t]+(?:\([^)]*\)[ \t]*)?(\w+)",
        r"type[ \t]+(\w+)",
        outermost=(r"(?:const|var)[ \t]+(\w+)",),
    ),
    "ruby": _grammar(r"(?:def|class|module)[ \t]+([\w.:]+[?!]?)"),
    "elixir": _grammar(
        r"(?:def|defp|defmodule|defmacro|defprotocol|defimpl)[ \t]+(\w+(?:\.\w+)*[?!]?)"
    ),
    "php": _grammar(
        _MODIFIERS + r"function[ \t]+&?(\w+)",
        _MODIFIERS + r"(?:class|interface|trait|enum)[ \t]+(\w+)",
    ),
    "shell": _grammar(r"function[ \t]+([\w:.-]+)", r"([\w:.-]+)[ \t]*\([ \t]*\)"),
    "markdown": _grammar(r"#{1,6}[ \t]+(\S(?:.*[^ \t\r#])?)", deepest=3),
    **dict.fromkeys(("toml", "ini"), _grammar(r"\[{1,2}([^\]]+)\]")),
    "yaml": _grammar(r"([\w./-]+):(?:\s|$)", deepest=0),
    "json": _grammar(r"\"([^\"]{1,100})\"[ \t]*:", deepest=4),
    "make": _grammar(r"([\w./-]+)[ \t]*:(?!=)", deepest=0),
    "css": _grammar(r"([.#@\w:][^{};]{0,100})\{"),
    "lua": _grammar(r"(?:local[ \t]+)?function[ \t]+([\w.:]+)"),
    "r": _grammar(r"([\w.]+)[ \t]*(?:<-|=)[ \t]*function\b"),
    "restructuredtext": _grammar(r"(?!)"),
}

PROSE = frozenset({"markdown", "restructuredtext"})


def language_of(path: str) -> str:
    """Return the language of a file by its name, or an empty string."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    if dot and stem:
        return EXTENSIONS.get(extension, "")
    return FILE_NAMES.get(name, "")


def definition_name(line: str, indent: int, language: str) -> str:
    """Return the name, of at most 100 characters, that a line without its indent defines; or ""."""
    outermost, inner, deepest = _GRAMMARS.get(language, _SHARED)
    match = (inner if indent else outermost).match(line, 0, _LINE_CHARS)
    if match is None or indent > deepest:
        return ""
    return match[match.lastindex or 0].strip()[:_NAME_CHARS]
