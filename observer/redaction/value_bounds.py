"""Keys with secret names: how they are given a value, and where that value ends.

Part of step 4 (redaction); `key_values` judges whether the value is a secret. A key is given its
value by `=`, `:`, a call, an option, a default or a pair. A text may itself be inside a string of
JSON, where a line ends with a backslash and an n.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from observer.redaction import env_vars
from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import SecretName

QUOTES = ('"', "'", "`")

_QUOTED = {quote: lazy(rf"(?:[^{quote}\\\r\n]|\\.)*+", re.DOTALL) for quote in QUOTES}
_ESCAPED = {
    quote: lazy(rf"[^{quote}\\\r\n]*+(?:\\++(?!{quote})[^{quote}\\\r\n]*+)*+") for quote in QUOTES
}
_BARE_LIMIT = 256
_BARE = lazy(r"[^\s\"'`,;&|<>\\]{1,256}")
_BARE_WITH_COMMAS = lazy(r"[^\s\"'`;&|<>\\]{1,256}")
_MORE = lazy(r"[^\s\"'`;&|<>\\]*")
_REST_OF_LINE = lazy(
    r"""(?:(?!&&|\|\||\\[nrt])["'`,;&|<>\\](?=[^)\]}])(?![\w.-]{1,64}[=:])"""
    r"""[^\s"'`,;&|<>\\]{1,256}+){1,16}+"""
)
"""What a file has behind a sign that ends words elsewhere, unless another setting follows it."""
_LINE = r"(?:\A|[\r\n]|\\n|\w\.\w{1,10}:|[:-]\d{1,7}[:-]|\d[\t→])"
"""Where a line begins, in a file or in what `grep` and `cat -n` show of one."""
_UNINDENTED = lazy(rf"{_LINE}[+-]?\Z")
_BEGINNING = lazy(
    rf"{_LINE}(?:[ \t+-]|\\t)*(?:export[ \t]+)?(?:[\w-]+\.){{0,8}}\Z",
)
_END = lazy(r"[ \t]{0,8}(?:[\r\n#]|\\{1,3}[nr]|\Z)")


def quote_end(text: str, start: int, *, quote: str) -> int:
    """Return where a string ends that such a quote began; an escaped quote ends at its like."""
    styles = _ESCAPED if len(quote) > 1 else _QUOTED
    inside = styles[quote[-1]].match(text, start)
    return inside.end() if inside else start


def bare_end(text: str, start: int, *, with_commas: bool) -> int:
    """Return where a word ends: at the next delimiter."""
    bare = (_BARE_WITH_COMMAS if with_commas else _BARE).match(text, start)
    return start + len(bare[0].rstrip(".,:)]}")) if bare else start


def whole_end(text: str, start: int, *, end: int, has_line: bool) -> int:
    """Return where a bare value really ends: no sign but a blank ends it on a line of its own."""
    if end - start == _BARE_LIMIT and (more := _MORE.match(text, end)):
        end = more.end()
    rest = _REST_OF_LINE.match(text, end) if has_line else None
    return rest.end() if rest else end


def begins_line(before: str) -> bool:
    """Return True if a name behind this text begins a line, in a file of settings or its diff."""
    return _BEGINNING.search(before) is not None


def is_unindented(before: str) -> bool:
    """Return True if a name behind this text is the first of its line, but for a diff's sign."""
    return _UNINDENTED.search(before) is not None


def ends_line(text: str, at: int) -> bool:
    """Return True if nothing but a comment follows in the line."""
    return _END.match(text, at) is not None


_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"


HEAD = lazy(
    r"""
    (?P<tail>[A-Za-z0-9_-]{0,40}+)
    (?:
      >(?=\s{0,24}(?P<element>[^<>\s]{4,})\s{0,24}</)
    | (?P<close>\\{0,7}["'`]?[\])]?)
      (?: [ \t]{0,4}:[ \t]{0,4}[A-Za-z_&][\w.\[\]|?&' ]{0,40}=[ \t]{0,4}(?=\\{0,7}["'`])
        | (?P<assign>[ \t]{0,8}(?::=|=>|={1,3}|:)[ \t]{0,24})
          (?:[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,40})?  # YAML's block
        | [ \t]{1,4}(?P<default>\|\|=?|\?\?=?|\?:|or)[ \t]{1,4}(?=\\{0,7}["'`])
        | (?P<call>\([ \t]{0,8})(?=\\{0,7}["'`])
        | ,?\s{0,24}\\{0,7}["']?[Vv]alue\\{0,7}["']?\s{0,4}:\s{0,4}
        | (?<=["'])\s{1,24}value=(?=\\{0,7}["'])
        | (?P<listed>,\s{0,24})(?=\\{0,7}["'])
        | (?P<option>(?:[ \t]|\\\r?\n){1,12}+)
      )
      (?P<prefix>[bBrRuU@$]{0,2}(?=\\{0,7}["'`]))?
      (?P<quote>\\{0,7}["'`])?
    )
    """,
    re.VERBOSE,
)


_QUOTING = "\\\"'`"


class Key(NamedTuple):
    """A secret-named key that is given a value, and how; `before` is the text before it."""

    word: SecretName
    text: str
    tail: str
    before: str
    head: re.Match[str]
    is_variable: bool
    """Whether it is an environment variable being set."""

    @property
    def is_spaced(self) -> bool:
        """Whether there is more than a sign between it and the value."""
        assign = self.head["assign"]
        return assign is None or assign != assign.strip()

    @property
    def is_quoted(self) -> bool:
        """Whether the value's end is plain to see."""
        return bool(self.head["quote"] or self.head["element"])

    @property
    def ends_string(self) -> bool:
        """Whether the quote behind it ends the string that began before it: `"token=" + x`."""
        begun = self.before[len(self.before.rstrip(_QUOTING)) :]
        return bool(begun) and self.lead in QUOTES and begun == self.head["quote"]

    @property
    def begins_line(self) -> bool:
        """Whether it begins a line, as in files of settings and in their diffs."""
        return begins_line(self.before)

    @property
    def is_entry(self) -> bool:
        """Whether it begins a line, as in YAML."""
        return ": " in (self.head["assign"] or "") and self.begins_line

    @property
    def is_weak(self) -> bool:
        """Whether it may name anything; a value must look random."""
        if self.is_call and not _SETS.match(self.text):
            return True
        return self.word.is_weak or _WEAK.match(self.text) is not None

    @property
    def lead(self) -> str:
        """The character before it."""
        return self.before[-1:] or "\n"

    @property
    def is_option(self) -> bool:
        """Whether it is a command-line option."""
        return self.text.startswith("--")

    @property
    def is_call(self) -> bool:
        """Whether it is called with the value; only what sets something is given a secret so."""
        return self.head["call"] is not None

    @property
    def takes_next(self) -> bool:
        """Whether the next of a list is its value: behind an option, or in `define("X", …)`."""
        return self.is_option or env_vars.takes_pair(self.before)

    @property
    def is_environment(self) -> bool:
        """Whether no expression can stand behind it: a shell variable, an option, a URL's query."""
        return not self.is_spaced and (
            self.text.isupper()
            or self.is_option
            or (self.lead in "?&" and self.head["assign"] == "=")
        )


_SETS = lazy("(?i:set|with|use|change|reset)(?![a-z])")
_WEAK = lazy(r"-*(?:auth|pass)(?![a-z])", re.IGNORECASE)


def key_of(text: str, found: re.Match[str], *, word: SecretName, head: re.Match[str]) -> Key:
    """Return the key whose secret's name was found in a text, with the head that follows it."""
    around = text[max(0, found.start() - 48) : found.start()]
    before = around.rstrip(_NAME_CHARACTERS)
    if before.endswith("\\") and around[len(before) :].startswith(("n", "r", "t")):
        before = around[: len(before) + 1]  # a line's end in JSON, not the name's first letter
    name = around[len(before) :] + text[found.start() : head.end("tail")]
    tail = head["tail"].lower()
    is_variable = _is_set(head, before) and env_vars.names_secret(name, tail)
    return Key(word, name, tail, before, head, is_variable)


def _is_set(head: re.Match[str], before: str) -> bool:
    if head["option"]:
        return env_vars.declares(before)
    return head["assign"] == "=" and head["quote"] != "`"
