"""A secret's name and its value, whatever stands between the two.

Part of step 4 (redaction). A word that names a secret; signs, or a few words, between; a value,
whose end its quotes or its surroundings show. A table, a pair, an option and its argument, prose:
the forms in which people and programs join the two have no end, so a value that looks drawn, or
made up, need only stand close. Behind a sign that sets something (`=`, `:`, a call, an option) a
plain word may be the value, unless it is source code (`password = get_password()`,
`token: str`); that of an environment variable is a secret whatever it looks like.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import category

from observer.redaction import secrets
from observer.redaction.columns import column
from observer.redaction.lazy_pattern import lazy
from observer.redaction.secret_names import (
    ABOUT,
    ASCII_NAMES,
    MEASURES,
    SECRET_NAMES,
    SecretName,
    is_about_secret,
    is_no_secret,
    joined,
)
from observer.redaction.secrets import (
    MARKER,
    UUID,
    Span,
    is_generated_whole,
    is_placeholder,
    is_random,
)
from observer.redaction.values import (
    ACCOUNTS,
    is_drawn,
    is_hex,
    is_made_up,
    is_strong,
)


def named_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the values of secrets' names; `low` is the text in lower case, at equal offsets."""
    for word in ASCII_NAMES if low.isascii() else SECRET_NAMES:
        if word.gate not in low:
            continue
        at = 0
        head = below = 0
        while found := word.pattern.search(low, at):
            at = found.end()
            if is_no_secret(text, found.start(), at):
                continue
            if span := _set(text, found, word) or _close(text, found, word):
                is_of_aws = word.gate == "secret" and "aws" in low[max(0, at - 12) : at]
                at = max(at, span.end)
                yield span._replace(name="aws-secret-key") if is_of_aws else span
            if not head < found.start() < below:  # each row is part of one table
                for span in column(text, found, word):
                    head, below = text.find("\n", found.end()), span.end
                    yield span


# --- what is set to a value ----------------------------------------------------------------------

_QUOTES = ('"', "'", "`")

_QUOTED = {quote: lazy(rf"(?:[^{quote}\\\r\n]|\\.)*+", re.DOTALL) for quote in _QUOTES}
_ESCAPED = {
    quote: lazy(rf"[^{quote}\\\r\n]*+(?:\\++(?!{quote})[^{quote}\\\r\n]*+)*+") for quote in _QUOTES
}
_LINE = r"(?:\A|[\r\n]|\\n|\w\.\w{1,10}:|[:-]\d{1,7}[:-]|\d[\t→])"
"""Where a line begins, in a file or in what `grep` and `cat -n` show of one."""
_UNINDENTED = lazy(rf"{_LINE}[+-]?\Z")
_BEGINNING = lazy(
    rf"{_LINE}(?:[ \t+-]|\\t)*(?:export[ \t]+)?(?:[\w-]+\.){{0,8}}\Z",
)
_END = lazy(r"[ \t]{0,8}(?:[\r\n#]|\\{1,3}[nr]|\Z)")
_DECLARES = lazy(r"(?:\bENV|\bsetx|\bsetenv|\bset[ \t]+-[a-zA-Z]{0,4}x[a-zA-Z]{0,4})[ \t]{1,4}\Z")
_LISTED = lazy(r"(?:\s-(?:e|-env|-build-arg)?[ \t=]{1,4}|[\[,][ \t\r\n]{0,24})\Z")
_ARGUMENT = lazy(
    r"(?:--from-literal|--set(?:-string)?|--?var)[= \t]{1,4}\\?[\"']?[\w.,=-]{0,32}\Z"
    r"|(?i:(?:host|server|user|username|user id|uid|dbname|database|port|catalog)"
    r"=[^\s;=&,]{1,40}(?:;[ ]?|[ ]))(?:\w{1,16}_)?\Z"
)
_PAIRS = lazy(
    r"(?i:\b(?:define|set(?:default|env|property|environmentvariable)?|get(?:env)?|env|put|append"
    r"|add|header|option)\([ \t]{0,4}\\{0,7}[\"'])\Z"
)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"


_HEAD = lazy(
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


class _Key(NamedTuple):
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
        return bool(begun) and self.lead in _QUOTES and begun == self.head["quote"]

    @property
    def is_entry(self) -> bool:
        """Whether it begins a line, as in YAML."""
        return ": " in (self.head["assign"] or "") and _BEGINNING.search(self.before) is not None

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
        return self.is_option or _PAIRS.search(self.before) is not None

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


def _set(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that a name is set to, or that is joined to it; None if none is."""
    if word.is_weak and word.gate != "key":
        return None
    head = _HEAD.match(text, found.end())
    key = head and _key_of(text, found, word=word, head=head)
    if key and (bounds := _set_bounds(text, key)):
        start, end = bounds
        value = MARKER.sub("", text[start:end])
        is_entry = _is_entry(key, value) and _END.match(text, end)
        if not _is_code(key, value) and (is_entry or _is_secret(key, value)):
            return Span(start, end, word.name)
    return joined(text, found, word)


def _key_of(text: str, found: re.Match[str], *, word: SecretName, head: re.Match[str]) -> _Key:
    around = text[max(0, found.start() - 48) : found.start()]
    before = around.rstrip(_NAME_CHARACTERS)
    if before.endswith("\\") and around[len(before) :].startswith(("n", "r", "t")):
        before = around[: len(before) + 1]  # a line's end in JSON, not the name's first letter
    name = around[len(before) :] + text[found.start() : head.end("tail")]
    tail = head["tail"].lower()
    is_variable = _is_set(head, before) and _names_variable(name, tail)
    return _Key(word, name, tail, before, head, is_variable)


def _is_set(head: re.Match[str], before: str) -> bool:
    if head["option"]:
        return _DECLARES.search(before) is not None
    return head["assign"] == "=" and head["quote"] != "`"


def _set_bounds(text: str, key: _Key) -> tuple[int, int] | None:
    """Return where what a key is set to starts and ends, None if nothing is set."""
    head = key.head
    is_next = head["listed"] and (not key.takes_next or text.startswith("-", head.end()))
    if is_next or (head["option"] and not (key.is_option or key.is_variable)):
        return None
    if _CALL.match(text, head.end()) and not (key.is_quoted or key.is_environment):
        return None
    if head["element"]:
        return head.span("element")
    start = head.end()
    before = key.before[:-1].rstrip("\\")
    is_item = key.is_variable and key.lead in _QUOTES and _LISTED.search(before)
    if quote := head["quote"] or (is_item and key.before[len(before) :]):
        inside = (_ESCAPED if len(quote) > 1 else _QUOTED)[quote[-1]].match(text, start)
        end = inside.end() if inside else start
    else:
        start, end = _bounds(text, start)
    return None if text.startswith("...", end) else (start, end)


# --- whether it is a secret ----------------------------------------------------------------------

_KNOWN_TAIL = lazy(
    r"(?:w(?:or)?d|wort|phrase|code)?"
    r"(?:[_-]?(?:access[_-]?)?(?:key|token|secret|value|text|string|base|hash|pass|password))?"
    r"(?:[_-]?(?:base64|b64|dev|development|prod|production|staging|stage|test|live|old|new|main))?"
    r"[_-]?\d{0,3}[_-]?",
)
_NAMES_ITSELF = lazy(r"[A-Za-z_$][\w$]{0,64}(?:[-./:][A-Za-z_$][\w$-]{0,64}){0,8}", re.ASCII)
_SECRET_WORD = lazy(r"passw|secret|token|key|credential|auth|pwd", re.IGNORECASE)
_NAME = r"[A-Za-z_$][\w$]{0,64}"
_STEP = rf"(?:\.|::|->|\?\.){_NAME}"
_CALL = lazy(rf"{_NAME}(?:{_STEP}){{0,8}}[(\[{{]|[(\[{{&*!:]")
_ATTRIBUTE = lazy(rf"{_NAME}(?:{_STEP}){{1,8}}")
_TYPE = lazy(
    r"(?:\w{1,32}\.)?[A-Z]\w{0,24}?(?:Key|Token|Secret|Password|Credential|Array|String)\w{0,12}|[A-Za-z]\w*<[A-Za-z].*"
)
_STRING_ENDED = lazy(r"\s|[,)\]+;:.]+(?:\s|\Z)")
"""How text begins behind a quote that was not the first of a pair, as in `"token=" + x`."""
_PATH = lazy(r"(?:~|\.{1,2}|[A-Za-z]:|(?:op|https?|file):/)?[/\\][\w./\\ @-]{0,256}")
_PLAIN = lazy(r"[A-Za-z_]+[.!?]?|[\d.,_]+")
_STATEMENTS = lazy(r"[;,](?:let|var|\w[\w$.]*\()|[)\]}][;,.)]")


def _is_code(key: _Key, value: str) -> bool:
    """Return True if a value is source code, or what a program printed about its work."""
    is_file = key.head["default"] and key.lead in "/\\"
    if is_file or (key.lead in "?&" and "badge" in key.before) or _is_listed_word(key, value):
        return True
    if key.is_variable or (key.is_quoted and secrets.mixes(value)):
        return False
    is_bare_code = not key.is_quoted and (secrets.is_variable(value) or _STATEMENTS.search(value))
    return bool(is_bare_code) or (not key.word.is_password and secrets.is_expression(value))


def _is_listed_word(key: _Key, value: str) -> bool:
    """Return True for `name:password:GID` in a description, and `AUTH=CRAM-MD5`."""
    is_field = key.lead == key.head["assign"] == ":"
    return (is_field or (key.is_weak and value.isupper())) and not is_random(value)


def _is_path(value: str) -> bool:
    """Return True if a value is a path; one secret of base 64 in 64 begins with a slash as well."""
    is_base64 = len(value) >= 32 and "." not in value and is_random(value, at_least=32)
    return _PATH.fullmatch(value) is not None and not (is_base64 and not value.islower())


def _is_secret(key: _Key, value: str) -> bool:
    if is_placeholder(value):
        return False
    if key.word.is_weak:
        is_known = _KNOWN_TAIL.fullmatch(key.tail) is not None
        return is_known and is_generated_whole(value.partition(".")[0])
    if key.is_variable and not (key.is_weak and len(value) < 8):
        closes = key.is_quoted and (key.ends_string or _STRING_ENDED.match(value))
        return not closes and _is_literal_value(key.text, value)
    if len(value) < (4 if key.word.is_password else 8) or _is_path(value):
        return False
    is_whole = key.is_quoted or key.is_environment
    return _may_be(key, value) and (_is_literal if is_whole else _is_bare_secret)(key, value)


def _may_be(key: _Key, value: str) -> bool:
    """Rule out code: by the rest of the key, by how the value begins, by its being a name."""
    if key.is_weak or (key.tail and not _KNOWN_TAIL.fullmatch(key.tail)):
        return False
    if key.is_quoted:
        return not _STRING_ENDED.match(value)
    if _TYPE.fullmatch(value):
        return False
    return not _ATTRIBUTE.fullmatch(value) or is_random(value, at_least=16)


def _is_literal(key: _Key, value: str) -> bool:
    """Return True if a whole string is a secret; passwords need less evidence than tokens."""
    if _is_prose(value) or _names_itself(value):
        return False
    if key.word.is_password:
        is_key = key.head["listed"] and not (key.is_option or key.text.isupper())
        return not (is_key and _PLAIN.fullmatch(value))
    if key.is_option and (key.is_quoted or not key.is_spaced):
        return not value.isupper()
    return len(value) >= 24 or not _PLAIN.fullmatch(value)


def _is_bare_secret(key: _Key, value: str) -> bool:
    """Return True if an unquoted word is a secret rather than a name, a number or prose."""
    if key.word.is_password and not key.is_spaced:
        if _UNINDENTED.search(key.before):
            return _is_literal(key, value)
        if _ARGUMENT.search(key.before):
            return _is_literal(key, value) and not _DESCRIPTION.fullmatch(value)
    if _PLAIN.fullmatch(value) or (key.is_spaced and not key.word.is_password):
        return is_random(value)
    return _is_literal(key, value)


_ENTRY = lazy(r"[a-z]{8,}|(?=[A-Za-z]*\d)[A-Za-z0-9!@#%^*+=]{8,}")
_DESCRIPTION = lazy(
    r"[a-z]{1,9}(?:able|ible|ed|ing|ory|tion|er|al|ive)"
    r"|plaintext|incorrect|bytearray|frozenset|datetime|timestamp|interface|\d+"
)


def _is_entry(key: _Key, value: str) -> bool:
    """Return True if a line such as `token: value` holds a secret, not a type or a state."""
    if not key.is_entry or key.is_quoted or key.is_weak or not _ENTRY.fullmatch(value):
        return False
    if key.text[:1].isupper() and not key.text.isupper():
        return False
    if not _KNOWN_TAIL.fullmatch(key.tail) or _DESCRIPTION.fullmatch(value):
        return False
    return not is_placeholder(value) and not _names_itself(value)


def _is_prose(value: str) -> bool:
    words = value.split()
    if len(words) < 2:
        return not value.isascii() and all(category(sign)[0] in "LM" for sign in value)
    return all(word.strip(string.punctuation).isalnum() for word in words)


def _names_itself(value: str) -> bool:
    """Return True if a value names something secret, such as `db-password` or `auth.token`."""
    return bool(_NAMES_ITSELF.fullmatch(value) and _SECRET_WORD.search(value))


_VARIABLE = lazy(r"(?:-[A-Za-z])?[A-Z_][A-Z0-9_]*")
_REST = lazy(r"(?:w(?:or)?d|phrase|code)?s?((?:_[a-z0-9]+)*)_?")
_SETTINGS = lazy(
    r"[\d.,]{0,3}|yes|off|auto|always|never"
    r"|\$[A-Za-z_({].*"  # a variable or a command with more behind it
    r"|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*[(\[]"  # a call: its value ends at a quote or `)`
    r"|(?:\w+\.){0,8}(?:environ|env|settings|config|secrets)\.[\w.]+",
    re.DOTALL | re.IGNORECASE,
)
_JOINTS = str.maketrans("", "", "-_ .")


def _names_variable(name: str, tail: str) -> bool:
    """Return True if a variable holds a secret; `tail` is the lower-case text behind that word."""
    if not _VARIABLE.fullmatch(name) or name.partition("_")[0].lower() in MEASURES:
        return False
    rest = _REST.fullmatch(tail)
    if rest is None or (tail.startswith("s") and "TOKEN" in name):
        return False
    return rest[1].rpartition("_")[2] not in ABOUT


def _is_literal_value(name: str, value: str) -> bool:
    """Return True if a value is the secret itself, not a reference, a switch or a stand-in."""
    if len(value) < 3 or is_placeholder(value) or _SETTINGS.fullmatch(value):
        return False
    if name == "PWD" and value.isalpha():
        return False
    if _PATH.fullmatch(value):
        return name != "PWD" and is_random(value)
    return value.lower().translate(_JOINTS) not in name.lower().translate(_JOINTS)


# --- what stands close -------------------------------------------------------------------------

_FAR = 100
"""Characters that may stand between a name and what looks drawn."""
_SIGNS = (
    r"\s\"'`\\\])}>:=|,(\[{<~+*!./\u2192\u662f\u4e3a\u70ba\uc740\ub294\u306f\u304c\uff1a"
    r"\u2500-\u257f\u00bb\u201c\u201e\u00ab-"
)
_NAME_TAIL = lazy(r"(?:w(?:or)?d|wort|phrase|code)?s?(?![a-z])(?P<more>[A-Za-z0-9_-]{0,40}+)")
_DIRECT = lazy(rf"[{_SIGNS}]{{1,40}}+")
_STATEMENT = lazy(r"\spass[ \t]*(?:#.*)?(?:\r?\n|\Z)")
"""One of Python."""
_LONG_PATH = lazy(r"(?=.{41})(?:.{0,255}[-_./:])??[A-Za-z]?[a-z]{3,}[-_./:]")
"""Long names with a word in them, as of files, packages and pages."""
_VERB = lazy(r"pass(?<=[^\w.-]pass)\b")
_RESULT = lazy(r"(?<!\w)PASS: ")
_DATA_LENGTH = 24
_DATA = lazy(rf"[A-Za-z0-9+/]{{{_DATA_LENGTH}}}")
_WORD = lazy(r"[A-Za-z\u00c0-\u024f]{2,}")
_INNER = r"[^\s\"'`<>|,;(){}\[\]]"
_TOKEN = lazy(
    rf"(?<!{_INNER})(?={_INNER}{{0,64}}?(?:[\d!#$%^*?@]|-\w+-\w+-|[a-z][A-Z]))"
    rf"{_INNER}{{8,256}}+"
)
_BARE = lazy(r"[^\s\"'`]{1,512}+(?:(?<=\w)'\w[^\s\"'`]{0,256}+){0,4}+")
_ENCLOSED = {sign: lazy(rf"[^{sign}\r\n]{{4,256}}?(?=\\{{0,7}}{sign})") for sign in "\"'`"}
_CUT = lazy(
    r"</|&&|<[A-Z]\w*>|\[redacted:|\\+[nrt\"'`]|&(?=[\w.-]{1,64}=)|%26(?=[\w.-]{1,64}%3D)|[),;\]}>|]+(?=[),;\]}>|.:]*(?:\s|\Z|[\"'`]))"
    r"|[,;](?=[\w.-]{1,40}[=:])|[\u2500-\u257f\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uff0f]"
)
_LEADS = "!#$%&*+-./?@^_~"
_ENDS = ".,:;)]}>"


def _close(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that stands close to a secret's name; None if none does."""
    tail = _NAME_TAIL.match(text, found.end())
    if tail is None or is_about_secret(text, found.start(), tail) or _is_no_name(text, found):
        return None
    gap = _DIRECT.match(text, tail.end())
    if gap is not None and (gap[0].strip() or word.gate != "auth"):
        start, end = _bounds(text, gap.end())
        value = text[start:end]
        is_inserted = gap[0] == ", " and text.startswith(",", end)
        is_joined = gap[0].strip() != "" and (is_inserted or "," not in gap[0])
        is_id = word.is_weak and is_hex(value) and (gap[0] != "=" or "-" in value)
        is_other = is_id or _LONG_PATH.match(value)
        if not is_other and (is_drawn(value) or is_made_up(value, word, is_joined=is_joined)):
            return Span(start, end, word.name)
    if word.gate in ACCOUNTS:
        return _behind(text, tail.end(), word)
    if word.is_weak or word.gate == "auth" or _VERB.match(text, found.start()):
        return None
    return _behind(text, tail.end(), word) or _before(text, found.start(), word)


def _is_no_name(text: str, found: re.Match[str]) -> bool:
    """Return True for a statement of Python, a test's result and what stands in encoded data."""
    start = found.start()
    if start >= _DATA_LENGTH and _DATA.match(text, start - _DATA_LENGTH):
        return True
    return bool(_STATEMENT.match(text, start - 1) or _RESULT.match(text, start))


def _behind(text: str, at: int, word: SecretName) -> Span | None:
    for token in _TOKEN.finditer(text, at, at + _FAR):
        if span := _apart(text, token.start(), text[at : token.start()], word):
            return span
    return None


_NEXT_KEY = lazy(r"[\"'],\s*[\"'][\w.-]*")
_SHORT_COMMIT = 13
_UP_TO_NAME = lazy(r"(?:[\s\"'`)|,<].*)?\s[\"'`]?[A-Za-z_.-]*")


def _before(text: str, at: int, word: SecretName) -> Span | None:
    line = text.rfind("\n", max(0, at - _FAR), at) + 1
    for token in _TOKEN.finditer(text, max(line, at - _FAR), at):
        between = text[token.end() : at]
        is_next = _NEXT_KEY.fullmatch(between)  # of an object of JSON
        is_commit = is_hex(token[0]) and len(token[0]) < _SHORT_COMMIT
        if is_next or is_commit or UUID.fullmatch(token[0]) or not _UP_TO_NAME.fullmatch(between):
            continue  # what has an id of its own is named before it
        if span := _apart(text, token.start(), between, word):
            return span
    return None


def _apart(text: str, place: int, between: str, word: SecretName) -> Span | None:
    """Return what stands apart from a name, if it is a value, the more words the surer."""
    words = len(_WORD.findall(between))
    lines = between.count("\n")
    is_close = between[-1:] not in " \t\n" or between.rstrip()[-1:] in ":=>/"
    is_close = is_close or "<<" in between  # a here-document
    start, end = _bounds(text, place)
    value = text[start:end]
    is_below = lines == 1 and text[start - 1] == "\n" and text[end : end + 1] in {"", "\n"}
    if words > 7 or lines > 2 or (lines and not is_close and (is_hex(value) or not is_below)):
        return None
    if (
        _LONG_PATH.match(value)
        or ";" in between
        or ("[redacted:" in between and between.endswith("]"))
    ):
        return None
    is_joined = (is_close and "," not in between) or (
        words < 4 and word.is_password and not set(between) & set(",;(){}[]")
    )
    if (
        is_drawn(value, between)
        or (not lines and is_strong(value))
        or ((words < 4 or is_close) and is_made_up(value, word, is_joined=is_joined))
    ):
        return Span(start, end, word.name)
    return None


def _bounds(text: str, at: int) -> tuple[int, int]:
    """Return where the value around a place starts and ends."""
    start = at
    while start and text[start - 1] in _LEADS and not text[start - 2 : start - 1].isalnum():
        start -= 1
    before = text[start - 1 : start]
    inside = _ENCLOSED[before].match(text, start) if before in _ENCLOSED else None
    if inside is not None and " " not in inside[0]:
        return start, inside.end() - 2 * inside[0].endswith(("\\r", "\\n"))
    bare = _BARE.match(text, start)
    if bare is None:
        return at, at
    end = bare.end()
    if cut := _CUT.search(text, max(start + 1, at), end):
        end = cut.start()
    frame = text[start - 1 : start] if text[start - 1 : start] in "*_" else ""
    return start, start + len(text[start:end].rstrip(_ENDS + frame))
