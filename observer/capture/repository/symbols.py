"""The functions, classes and sections that a patch touches, by their defining lines.

A hunk names its surroundings (the nearest definition above) and shows changed lines. A changed
definition counts always. The surroundings count only if the hunk changes something inside them: a
function put behind another does not change that other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_SYMBOLS = 30
"""Symbols named of one file; a last entry says that there are more."""
CUT = "[… more]"

_LINE_BYTES = 300
_NAME_CHARS = 80


class _Language(NamedTuple):
    """How a language defines names; a flat one does not indent what belongs to a definition."""

    definition: re.Pattern[bytes]
    flat: bool = False


def _any(*patterns: bytes) -> re.Pattern[bytes]:
    return re.compile(b"|".join(b"(?:%b)" % pattern for pattern in patterns))


_MODIFIERS = (
    rb"[ \t]*(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract"
    rb"|sealed|partial|override|virtual|async|unsafe|extern|inline|suspend|open|data|const|readonly"
    rb"|native|synchronized|pub(?:\([a-z ]+\))?)[ \t]+){0,6}"
)
_TYPE = _MODIFIERS + (
    rb"(?:enum[ \t]+class|class|interface|struct|enum|union|trait|record|object|protocol|extension"
    rb"|namespace|module|mod|actor)[ \t]+([A-Za-z_$][\w$:.]*)"
)
_METHOD = (  # of Java and C#: at least one modifier, perhaps a type, a name, an open parenthesis
    rb"[ \t]*(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async"
    rb"|synchronized|native)[ \t]+){1,5}(?:[\w<>\[\],.?]+[ \t]+){0,3}(\w+)[ \t]*\("
)
_FUNCTION = _MODIFIERS + rb"(?:function\*?|func|fun|fn|def)[ \t]+(?:<[^>]*>[ \t]*)?([\w$.:]+)"
_SCRIPT = _Language(
    _any(
        _TYPE,
        _MODIFIERS + rb"function\b[ \t]*\*?[ \t]*([\w$]+)",
        _MODIFIERS + rb"type[ \t]+([\w$]+)[ \t]*[<=]",
        rb"(?:export[ \t]+)?(?:default[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[^=]*=",
        rb"[ \t]+(?:(?:static|async|get|set|public|private|protected|override)[ \t]+){0,4}"
        rb"(?!(?:if|for|while|switch|catch|return|function)\b)([#\w$]+)"
        rb"[ \t]*\([^;]*\)[^;(){}]*\{[ \t]*$",
    )
)
_PYTHON = _Language(
    _any(
        rb"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)",
        rb"([A-Z][A-Z0-9_]+)[ \t]*(?::[^=]*)?=(?!=)",
    )
)
_GO = _Language(
    _any(rb"func[ \t]+(?:\([^)]*\)[ \t]*)?(\w+)", rb"type[ \t]+(\w+)", rb"(?:const|var)[ \t]+(\w+)")
)
_RUST = _Language(
    _any(
        _TYPE,
        _FUNCTION,
        rb"[ \t]*(?:unsafe[ \t]+)?impl\b(?:<[^>]*>)?[ \t]+(?:[\w:<>, &']+[ \t]for[ \t]+)?(\w+)",
        _MODIFIERS + rb"(?:type|static|macro_rules!)[ \t]+(\w+)",
        rb"(?:pub[ \t]+)?const[ \t]+(\w+)",
    )
)
_C = _Language(
    _any(
        rb"(?:typedef[ \t]+)?(?:enum[ \t]+class|class|struct|enum|union|namespace)[ \t]+"
        rb"(\w+)[^;]*$",
        rb"#[ \t]*define[ \t]+(\w+)",
        rb"(?!(?:else|return|typedef|using|case|goto|if|for|while|switch)\b)"
        rb"[A-Za-z_][\w \t*&<>,:~]*?[ \t*&](~?\w+(?:::~?\w+)*)[ \t]*\([^;]*$",
    )
)
_JAVA = _Language(_any(_TYPE, _METHOD, _FUNCTION))
_OTHER = _Language(_any(_TYPE, _FUNCTION))
_RUBY = _Language(_any(rb"[ \t]*(?:def|class|module|defmodule|defp)[ \t]+([\w.:]+[?!]?)"))
_SHELL = _Language(_any(rb"[ \t]*function[ \t]+([\w:.-]+)", rb"[ \t]*([\w:.-]+)[ \t]*\([ \t]*\)"))
_MARKDOWN = _Language(re.compile(rb"#{1,6}[ \t]+(\S.*?)[ \t#]*$"), flat=True)
_SECTIONS = _Language(re.compile(rb"[ \t]*\[{1,2}([^\]]+)\]"), flat=True)
_MAKE = _Language(re.compile(rb"([\w./-]+)[ \t]*:(?!=)"))
_SQL = _Language(
    re.compile(
        rb"[ \t]*(?:create|alter|drop)[ \t]+(?:or[ \t]+replace[ \t]+)?"
        rb"(?:(?:unique|temp|temporary|materialized|virtual)[ \t]+)?"
        rb"(?:table|view|index|function|procedure|trigger|type|schema)[ \t]+"
        rb"(?:if[ \t]+(?:not[ \t]+)?exists[ \t]+)?([\w.\"`]+)",
        re.IGNORECASE,
    ),
    flat=True,
)

_LANGUAGES = {
    **dict.fromkeys(["py", "pyi"], _PYTHON),
    **dict.fromkeys(
        ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"], _SCRIPT
    ),
    **dict.fromkeys(["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "m", "mm"], _C),
    **dict.fromkeys(["java", "cs", "kt", "kts", "scala", "swift", "dart", "groovy"], _JAVA),
    **dict.fromkeys(["php", "lua", "zig", "proto"], _OTHER),
    **dict.fromkeys(["rb", "ex", "exs"], _RUBY),
    **dict.fromkeys(["sh", "bash", "zsh", "fish"], _SHELL),
    **dict.fromkeys(["md", "mdx", "markdown"], _MARKDOWN),
    **dict.fromkeys(["toml", "ini", "cfg"], _SECTIONS),
    "go": _GO,
    "rs": _RUST,
    "sql": _SQL,
    "mk": _MAKE,
    "makefile": _MAKE,
}
_SPEAKING = re.compile(rb"[\s{}()\[\];,]*[^\s{}()\[\];,]")


class Symbols:
    """Collects the names of one file's patch, in order, each once."""

    def __init__(self, path: str) -> None:
        file = path.rpartition("/")[2]
        self._language = _LANGUAGES.get(file.rpartition(".")[2].lower())
        self._around = ""
        self._names: dict[str, None] = {}

    @property
    def is_done(self) -> bool:
        """Whether further lines cannot add a name."""
        return self._language is None or len(self._names) > MOST_SYMBOLS

    def hunk(self, context: bytes) -> None:
        """Take the surroundings that a hunk's header names."""
        self._around = self._definition(context)

    def line(self, text: bytes) -> None:
        """Take a changed line, without its sign."""
        if self._language is None or not _SPEAKING.match(text):
            return
        name = self._definition(text)
        if not name and (self._language.flat or text[:1] in b" \t"):
            name = self._around
        self._around = ""
        if name:
            self._names[name] = None

    def names(self) -> tuple[str, ...]:
        """Return at most `MOST_SYMBOLS` names; one more entry says that there are others."""
        found = list(self._names)
        return (*found[:MOST_SYMBOLS], CUT) if len(found) > MOST_SYMBOLS else tuple(found)

    def _definition(self, text: bytes) -> str:
        match = self._language.definition.match(text[:_LINE_BYTES]) if self._language else None
        name = match[match.lastindex or 0] if match else b""
        return name.decode("utf-8", "replace").strip('"` \t')[:_NAME_CHARS]
