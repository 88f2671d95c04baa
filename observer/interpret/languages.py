r"""Which language a file is in, and which of its lines define a name.

Part of interpretation (step 6). Every pattern reads one line of bounded length, so the time is
linear in the text. Definitions are found by their line alone, which is what an edit shows; a
grammar that sees whole files can take the place of `definition`.
"""

from __future__ import annotations

import re

from observer.interpret.wording import word_set

EXTENSIONS = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typescript"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "cpp"),
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
    "dart": "dart",
    "go": "go",
    "groovy": "groovy",
    "java": "java",
    "json": "json",
    "lua": "lua",
    "php": "php",
    "pl": "perl",
    "proto": "protobuf",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "rst": "restructuredtext",
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
"""File name (lower case) -> language, for files without an extension."""

_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async"
    r"|sealed|synchronized|partial|suspend|inline|open|data|const|export|default|declare|readonly"
    r"|unsafe|extern|pub(?:\([a-z]+\))?)[ \t]+){0,6}"
)
_TYPE_WORDS = r"(?:class|interface|enum|record|struct|trait|object|protocol|extension|namespace)"


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


_JS = _any(
    _MODIFIERS + r"function\b[ \t]*\*?[ \t]*([\w$]+)",
    _MODIFIERS + r"(?:class|interface|enum|namespace)[ \t]+([\w$]+)",
    _MODIFIERS + r"type[ \t]+([\w$]+)[ \t]*[<=]",
    r"(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[^=]{0,120}="
    r"[ \t]*(?:async[ \t]*)?(?:function\b|\([^()]*\)[^=]{0,80}=>|[\w$]+[ \t]*=>)",
    r"(?:(?:static|async|get|set|public|private|protected|override)[ \t]+){0,4}"
    r"([\w$]+)[ \t]*\([^()]*\)[^;(){}]{0,80}\{\s*$",
    r"(?:describe|it|test)\([ \t]*['\"`]([^'\"`]{1,100})",
)
_JAVA = _any(
    _MODIFIERS + _TYPE_WORDS + r"[ \t]+(\w+)",
    _MODIFIERS + r"(?:fun|func|def)[ \t]+(?:<[^>]*>[ \t]*)?([\w.]+)",
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async)[ \t]+)"
    r"{1,5}(?:[\w<>\[\],.?]+[ \t]+){0,3}(\w+)[ \t]*\(",
)
_C = _any(
    r"(?:typedef[ \t]+)?(?:class|struct|enum|union|namespace)[ \t]+(?:class[ \t]+)?(\w+)[^;]*$",
    r"#[ \t]*define[ \t]+(\w+)",
    r"([A-Za-z_][^;=(){}\"]{0,200})\([^;]*$",
)
_C_FUNCTION = 3
_GENERIC = _any(
    _MODIFIERS + r"(?:function|func|fun|fn|def|defp|defmodule|sub|proc|macro|module|class|struct"
    r"|interface|enum|trait|type|service|message|resource|rpc)[ \t]+\"?([\w.$:-]+)",
)

_PATTERNS: dict[str, re.Pattern[str]] = {
    "python": _any(r"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"),
    **dict.fromkeys(("javascript", "typescript", "vue", "svelte"), _JS),
    **dict.fromkeys(("java", "csharp", "kotlin", "scala", "swift", "dart", "groovy"), _JAVA),
    **dict.fromkeys(("c", "cpp"), _C),
    "go": _any(
        r"func[ \t]+(?:\([^)]*\)[ \t]*)?(\w+)",
        r"type[ \t]+(\w+)",
    ),
    "rust": _any(
        _MODIFIERS + r"(?:fn|struct|enum|trait|mod|union|type)[ \t]+(\w+)",
        r"impl\b(?:<[^>]*>)?[ \t]+(?:[\w:<>, ]{1,80}[ \t]for[ \t]+)?(\w+)",
        r"macro_rules![ \t]+(\w+)",
    ),
    "ruby": _any(r"(?:def|class|module)[ \t]+([\w.:]+[?!]?)"),
    "php": _any(
        _MODIFIERS + r"function[ \t]+&?(\w+)",
        _MODIFIERS + r"(?:class|interface|trait|enum)[ \t]+(\w+)",
    ),
    "shell": _any(r"function[ \t]+([\w:.-]+)", r"([\w:.-]+)[ \t]*\([ \t]*\)"),
    "sql": re.compile(
        r"(?:create|alter|drop)[ \t]+(?:or[ \t]+replace[ \t]+)?"
        r"(?:(?:unique|temp|temporary|materialized|virtual)[ \t]+){0,2}"
        r"(?:table|view|index|function|procedure|trigger|type|schema)[ \t]+"
        r"(?:if[ \t]+(?:not[ \t]+)?exists[ \t]+)?([\w.\"`\[\]]+)",
        re.IGNORECASE,
    ),
    "markdown": re.compile(r"#{1,6}[ \t]+(\S.*)"),
    **dict.fromkeys(("toml", "ini"), re.compile(r"\[{1,2}([^\]]+)\]")),
    "yaml": re.compile(r"([\w./-]+):(?:\s|$)"),
    "json": re.compile(r"\"([^\"]{1,100})\"[ \t]*:"),
    "make": re.compile(r"([\w./-]+)[ \t]*:(?!=)"),
    "css": re.compile(r"([.#@\w:][^{};]{0,100})\{"),
    "lua": _any(r"(?:local[ \t]+)?function[ \t]+([\w.:]+)"),
    "r": _any(r"([\w.]+)[ \t]*(?:<-|=)[ \t]*function\b"),
}

_DEEPEST = {"yaml": 0, "make": 0, "json": 4}
"""Deepest indentation at which a key or target counts as one."""
_LINE_CHARS = 300

FLAT = frozenset({"markdown", "toml", "ini", "yaml", "make"})
"""Languages whose sections reach to the next heading, whatever the indentation."""

_C_STATEMENTS = word_set("if else for while switch return do goto case")

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
"""Words of programming languages that name nothing."""


def language_of(path: str) -> str:
    """Return the language of a file by its name, or an empty string."""
    name = path.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    if dot and stem:
        return EXTENSIONS.get(extension, "")
    return FILE_NAMES.get(name, "")


def definition(line: str, indent: int, language: str) -> str:
    """Return the name that a line defines, or an empty string.

    Args:
        line: without its indentation.
        indent: how many characters that was.
        language: as `language_of` names it; any other is read by what most languages share.
    """
    match = _PATTERNS.get(language, _GENERIC).match(line[:_LINE_CHARS])
    if match is None or indent > _DEEPEST.get(language, _LINE_CHARS):
        return ""
    name = match.group(match.lastindex or 0)
    if language == "markdown":
        return name.strip("# \t\r")
    if language in ("c", "cpp") and match.lastindex == _C_FUNCTION:
        name = "" if indent else _c_function(name)
    name = name.strip('"`[]{ \t\r')
    return "" if name in KEYWORDS else name


def _c_function(head: str) -> str:
    """Return the name before a function's parenthesis; a bare `call(` or `else if (` has none."""
    words = head.split()
    if words[0] in _C_STATEMENTS or (len(words) == 1 and "::" not in head):
        return ""
    return words[-1].lstrip("*&")
