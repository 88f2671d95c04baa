"""What gives a secret-named key its value: `=`, `:`, a call, an option, a default, a pair.

Part of step 4 (redaction). Whether the value is a secret is judged in `assignments`.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from observer.capture import environment, extent
from observer.capture.secret_names import SecretName

_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"


HEAD = re.compile(
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
        return bool(begun) and self.lead in extent.QUOTES and begun == self.head["quote"]

    @property
    def begins_line(self) -> bool:
        """Whether it begins a line, as in files of settings and in their diffs."""
        return extent.begins_line(self.before)

    @property
    def is_entry(self) -> bool:
        """Whether it begins a line, as in YAML."""
        return ": " in (self.head["assign"] or "") and self.begins_line

    @property
    def is_weak(self) -> bool:
        """Whether it may name anything; a value must look drawn."""
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
        return self.is_option or environment.takes_pair(self.before)

    @property
    def is_environment(self) -> bool:
        """Whether no expression can stand behind it: a shell variable, an option, a URL's query."""
        return not self.is_spaced and (
            self.text.isupper()
            or self.is_option
            or (self.lead in "?&" and self.head["assign"] == "=")
        )


_SETS = re.compile("(?i:set|with|use|change|reset)(?![a-z])")
_WEAK = re.compile(r"-*(?:auth|pass)(?![a-z])", re.IGNORECASE)


def key_of(text: str, found: re.Match[str], *, word: SecretName, head: re.Match[str]) -> Key:
    """Return the key whose secret's name was found in a text, with the head that follows it."""
    around = text[max(0, found.start() - 48) : found.start()]
    before = around.rstrip(_NAME_CHARACTERS)
    if before.endswith("\\") and around[len(before) :].startswith(("n", "r", "t")):
        before = around[: len(before) + 1]  # a line's end in JSON, not the name's first letter
    name = around[len(before) :] + text[found.start() : head.end("tail")]
    tail = head["tail"].lower()
    is_variable = _is_set(head, before) and environment.names_secret(name, tail)
    return Key(word, name, tail, before, head, is_variable)


def _is_set(head: re.Match[str], before: str) -> bool:
    if head["option"]:
        return environment.declares(before)
    return head["assign"] == "=" and head["quote"] != "`"
