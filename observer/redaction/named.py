"""A secret's name and its value, whatever stands between the two; part of step 4 (redaction).

The forms in which people and programs join the two have no end, so a value that looks drawn, or
made up, need only stand close. Behind a sign that sets something (`=`, `:`, a call, an option) a
plain word may be the value, unless it is source code (`password = get_password()`, `token: str`);
that of an environment variable is a secret whatever it looks like.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from observer.core.patterns import lazy_pattern
from observer.redaction import shapes
from observer.redaction.patterns import WORDS, Patterns
from observer.redaction.shapes import ACCOUNTS, MARKER, SHAPES, SecretName, Span

_IS = Patterns("named")


def _after(word: str, *owners: str) -> str:
    """Return a pattern for the word behind any of the owners, however the two are joined."""
    alike = ("|".join(group) for _, group in groupby(sorted(owners, key=len), key=len))
    return "|".join(f"(?<=(?:{each}){word})|(?<=(?:{each})[._ -]{word})" for each in alike)


_ALONE = r"{0}(?<![a-z]{0})s?(?![a-z])"
ABOUT, MEASURES = frozenset(WORDS["about"]), frozenset(WORDS["measures"])
_OWNED = _after("key", *WORDS["owners_of_keys"])
_OF_DATA = _after("key", *WORDS["keys_of_data"])
# Each pattern begins with its gate, a literal that the engine finds before it tries anything.
_NAMES: list[dict[str, Any]] = [
    *WORDS["names"],
    *({"gate": word, "class": "password"} for word in WORDS["passwords_elsewhere"]),
    *(
        {"gate": word, "class": "secret", "pattern": _ALONE.format(word), "weak": True}
        for word in WORDS["weak_names"]
    ),
]
SECRET_NAMES = tuple(
    SecretName(
        row["gate"],
        row["class"],
        lazy_pattern(
            row.get("pattern", row["gate"]).replace("<owned>", _OWNED).replace("<data>", _OF_DATA)
        ),
        row["class"] == "password",
        row.get("weak", False),
    )
    for row in _NAMES
)
GATES = tuple(dict.fromkeys(each.gate for each in SECRET_NAMES))


def is_no_secret(text: str, at: int, end: int) -> bool:
    """Return True if the name around a word is of something public, a type, or no name at all."""
    if "[redacted:" in text[max(0, at - 32) : at].rpartition("]")[2]:
        return True
    owner = _IS.before.search(text, max(0, at - 40), at)
    if owner and text.startswith("::", owner.start() - 2):
        return True  # the name of a type: `AWS::IAM::AccessKey`
    if ":" in text[max(0, at - 99) : at] and _IS.in_place.search(text, max(0, at - 99), at):
        return True
    if owner and shapes.is_random(owner[0] + text[at:end]):
        return True
    before = [each.lower() for each in SHAPES.humps.findall(owner[0])] if owner else []
    return bool(before) and ("public" in before or before[-1] in _PUBLIC or before[0] in MEASURES)


_PUBLIC = frozenset([*WORDS["public"], *WORDS["keys_of_data"]])
_PIECE = 14


def joined(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the secret that is joined to its name by `-`, `_` or `=`; None if none is."""
    rest = _IS.joined.match(text, found.end())
    if rest is None or shapes.is_placeholder(rest["value"]):
        return None
    value = rest["value"]
    is_words = rest["joint"] != "-" and SHAPES.phrase.fullmatch(value)
    if is_words or SHAPES.made_up.fullmatch(value) or _is_generated(value):
        return Span(*rest.span("value"), word.name)
    return None


def _is_generated(value: str) -> bool:
    if not shapes.is_random(value, at_least=_PIECE):
        return shapes.is_drawn_letters(value) and "_" not in value and "-" not in value
    pieces = _IS.joint.split(value)
    return (
        any(shapes.is_random(piece, at_least=_PIECE) for piece in pieces)
        or SHAPES.uuid.search(value) is not None
        or all(shapes.is_random(piece, at_least=8) for piece in pieces if len(piece) > 3)
    )


def named_secrets(text: str, low: str, gates: Collection[str]) -> Iterator[Span]:
    """Yield the values of secrets' names; `low` is the text in lower case, `gates` those in it."""
    for word in SECRET_NAMES if gates else ():
        if word.gate not in gates:
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

_QUOTED = {'"': "quoted_double", "'": "quoted_single", "`": "quoted_back"}
_ESCAPED = {'"': "escaped_double", "'": "escaped_single", "`": "escaped_back"}
_ENCLOSED = {'"': "enclosed_double", "'": "enclosed_single", "`": "enclosed_back"}
"""The patterns of what quotes enclose: a string, one in another, and one without a blank."""
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-"


class _Key(NamedTuple):
    """A secret-named key that is given a value, and how; `before` is the text before it."""

    word: SecretName
    text: str
    tail: str
    before: str
    head: re.Match[str]

    lead: str
    """The character before it."""
    is_spaced: bool
    """Whether there is more than a sign between it and the value."""
    is_quoted: bool
    """Whether the value's end is plain to see."""
    is_option: bool
    """Whether it is a command-line option."""
    is_environment: bool
    """Whether no expression can stand behind it: a shell variable, an option, a URL's query."""


def _set(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that a name is set to, or that is joined to it; None if none is."""
    if word.is_weak and word.gate != "key":
        return None
    head = _IS.head.match(text, found.end())
    key = head and _key_of(text, found, word=word, head=head)
    if key and (bounds := _set_bounds(text, key)):
        start, end = bounds
        value = MARKER.sub("", text[start:end])
        # An expression stays one when its end was found to be a secret.
        is_cut = text.startswith("[redacted:", end) and shapes.is_expression(f"{value}a")
        if not is_cut and _is_secret(key, value):
            return Span(start, end, word.name)
    return joined(text, found, word)


def _key_of(text: str, found: re.Match[str], *, word: SecretName, head: re.Match[str]) -> _Key:
    around = text[max(0, found.start() - 48) : found.start()]
    before = around.rstrip(_NAME_CHARACTERS)
    if before.endswith("\\") and around[len(before) :].startswith(("n", "r", "t")):
        before = around[: len(before) + 1]  # a line's end in JSON, not the name's first letter
    name = around[len(before) :] + text[found.start() : head.end("tail")]
    lead, assign = before[-1:] or "\n", head["assign"]
    is_spaced = assign is None or assign != assign.strip()
    is_option = name.startswith("--")
    return _Key(
        word,
        name,
        head["tail"].lower(),
        before,
        head,
        lead=lead,
        is_spaced=is_spaced,
        is_quoted=bool(head["quote"] or head["element"]),
        is_option=is_option,
        is_environment=not is_spaced
        and (name.isupper() or is_option or (lead in "?&" and assign == "=")),
    )


def _set_bounds(text: str, key: _Key) -> tuple[int, int] | None:
    """Return where what a key is set to starts and ends, None if nothing is set."""
    head = key.head
    takes_next = key.is_option or _IS.pairs.search(key.before)  # `define("X", …)`
    is_next = head["listed"] and (not takes_next or text.startswith("-", head.end()))
    if is_next or (head["option"] and not key.is_option):
        return None
    if _IS.call.match(text, head.end()) and not (key.is_quoted or key.is_environment):
        return None
    if head["element"]:
        return head.span("element")
    start = head.end()
    if quote := head["quote"]:
        inside = getattr(_IS, (_ESCAPED if len(quote) > 1 else _QUOTED)[quote[-1]]).match(
            text, start
        )
        end = inside.end() if inside else start
    else:
        start, end = _bounds(text, start)
    return None if text.startswith("...", end) else (start, end)


# --- whether it is a secret ----------------------------------------------------------------------


def _is_secret(key: _Key, value: str) -> bool:
    """Return True for a value that is no code: the plainer it is set, the plainer it may be."""
    is_file = key.head["default"] and key.lead in "/\\"
    if is_file or shapes.is_placeholder(value) or (key.lead in "?&" and "badge" in key.before):
        return False
    if key.word.is_weak:
        is_known = _IS.known_tail.fullmatch(key.tail) is not None
        is_code = SHAPES.minified.search(value)
        return is_known and not is_code and shapes.is_random(value.partition(".")[0], at_least=16)
    least = 4 if key.word.is_password else 8
    is_read = key.head["call"] and not _IS.sets.match(key.text)
    if len(value) < least or is_read or _IS.weak.match(key.text) or _is_code(key, value):
        return False
    is_whole = key.is_quoted or key.is_environment
    return (_is_literal if is_whole else _is_bare_secret)(key, value)


def _is_code(key: _Key, value: str) -> bool:
    """Return True for code: by the rest of the key, by how a value begins, by its being a name."""
    is_other = key.tail and not _IS.known_tail.fullmatch(key.tail)
    if is_other or _IS.path.fullmatch(value):
        return True
    if not key.word.is_password and shapes.is_expression(value):
        return True
    if key.is_quoted:
        return _IS.string_ended.match(value) is not None
    is_name = _IS.attribute.fullmatch(value) is not None and not shapes.is_random(
        value, at_least=16
    )
    return is_name or bool(_IS.statements.search(value) or _IS.type.fullmatch(value))


def _is_literal(key: _Key, value: str) -> bool:
    """Return True if a whole string is a secret; passwords need less evidence than tokens."""
    names_one = _IS.names_itself.fullmatch(value) and _IS.secret_word.search(value)
    if names_one or _IS.prose.fullmatch(value):
        return False  # such as `db-password` or `auth.token`
    if key.word.is_password:
        is_key = key.head["listed"] and not (key.is_option or key.text.isupper())
        return not (is_key and _IS.plain.fullmatch(value))
    if (key.is_option and key.is_quoted) or key.is_environment:
        return not value.isupper()
    return len(value) >= 24 or not _IS.plain.fullmatch(value)


def _is_bare_secret(key: _Key, value: str) -> bool:
    """Return True if an unquoted word is a secret rather than a name, a number or prose."""
    if key.word.is_password:
        is_entry = _IS.beginning.search(key.before) and (
            not key.is_spaced or _IS.entry.fullmatch(value)
        )
        if is_entry or (not key.is_spaced and _IS.argument.search(key.before)):
            return _is_literal(key, value) and not _IS.description.fullmatch(value)
    if _IS.plain.fullmatch(value) or (key.is_spaced and not key.word.is_password):
        return shapes.is_random(value)
    return _is_literal(key, value)


# --- what stands close -------------------------------------------------------------------------

_FAR = 100
"""Characters that may stand between a name and what looks drawn."""
_DATA_LENGTH, _SHORT_COMMIT = 24, 13
_LEADS = "!#$%&*+-./?@^_~"
_ENDS = ".,:;)]}>"


def _close(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the value that stands close to a secret's name; None if none does."""
    tail = _IS.name_tail.match(text, found.end())
    if tail is None or _is_no_name(text, found.start(), tail):
        return None
    gap = _IS.direct.match(text, tail.end())
    if gap is not None and (gap[0].strip() or word.gate != "auth"):
        start, end = _bounds(text, gap.end())
        value = text[start:end]
        is_inserted = gap[0] == ", " and text.startswith(",", end)
        is_joined = gap[0].strip() != "" and (is_inserted or "," not in gap[0])
        is_id = word.is_weak and shapes.is_hex(value) and (gap[0] != "=" or "-" in value)
        is_id = is_id or SHAPES.id.fullmatch(value) is not None or _is_commit(gap[0], value)
        if not (is_id or _IS.long_path.match(value)) and (
            shapes.is_drawn(value) or shapes.is_made_up(value, word, is_joined=is_joined)
        ):
            return Span(start, end, word.name)
    if word.gate in ACCOUNTS:
        return _behind(text, tail.end(), word)
    if word.is_weak or word.gate == "auth" or _IS.verb.match(text, found.start()):
        return None
    return _behind(text, tail.end(), word) or _before(text, found.start(), word)


def _is_no_name(text: str, start: int, tail: re.Match[str]) -> bool:
    """Return True for what only describes or counts a secret, names what is public, or is no name.

    Such as a statement of Python, a test's result and what stands in encoded data.
    """
    words = [each.lower() for each in SHAPES.humps.findall(tail["more"])]
    if words and (words[-1] in ABOUT or tail["more"][0].islower()):
        return True
    if is_no_secret(text, start, tail.end()):
        return True
    if start >= _DATA_LENGTH and _IS.data.match(text, start - _DATA_LENGTH):
        return True
    return bool(_IS.statement.match(text, start - 1) or _IS.result.match(text, start))


def _behind(text: str, at: int, word: SecretName) -> Span | None:
    for token in _IS.token.finditer(text, at, at + _FAR):
        if span := _apart(text, token.start(), text[at : token.start()], word):
            return span
    return None


def _before(text: str, at: int, word: SecretName) -> Span | None:
    line = text.rfind("\n", max(0, at - _FAR), at) + 1
    for token in _IS.token.finditer(text, max(line, at - _FAR), at):
        between = text[token.end() : at]
        is_next = _IS.next_key.fullmatch(between)  # of an object of JSON
        is_short = len(token[0]) < _SHORT_COMMIT
        is_id = SHAPES.uuid.fullmatch(token[0]) or (is_short and shapes.is_hex(token[0]))
        if is_next or is_id or not _IS.up_to_name.fullmatch(between):
            continue  # what has an id of its own is named before it
        if span := _apart(text, token.start(), between, word):
            return span
    return None


def _apart(text: str, place: int, between: str, word: SecretName) -> Span | None:
    """Return what stands apart from a name, if it is a value, the more words the surer."""
    words = len(_IS.word.findall(between))
    lines = between.count("\n")
    is_close = between[-1:] not in " \t\n" or between.rstrip()[-1:] in ":=>/"
    is_close = is_close or "<<" in between  # a here-document
    start, end = _bounds(text, place)
    value = text[start:end]
    is_below = lines == 1 and text[start - 1] == "\n" and text[end : end + 1] in {"", "\n"}
    if (
        words > 7
        or lines > 2
        or (lines and not is_close and (shapes.is_hex(value) or not is_below))
    ):
        return None
    if (
        _IS.long_path.match(value)
        or (text[start - 1 : start] == "{" and SHAPES.phrase.fullmatch(value))  # a template's
        or ";" in between
        or ("[redacted:" in between and between.endswith("]"))
    ):
        return None
    is_joined = (is_close and "," not in between) or (
        words < 4 and word.is_password and not set(between) & set(",;(){}[]")
    )
    is_secret = (
        shapes.is_drawn(value, between)
        or (not lines and shapes.is_strong(value))
        or ((words < 4 or is_close) and shapes.is_made_up(value, word, is_joined=is_joined))
    )
    if is_secret and not (_is_commit(between, value) or shapes.is_called(text, start, end)):
        return Span(start, end, word.name)
    return None


def _is_commit(between: str, value: str) -> bool:
    """Return True for hexadecimal digits with which a line of `git log --oneline` begins."""
    return "\n" in between and shapes.is_hex(value) and len(value) < _SHORT_COMMIT


def _bounds(text: str, at: int) -> tuple[int, int]:
    """Return where the value around a place starts and ends."""
    start = at
    while start and text[start - 1] in _LEADS and not text[start - 2 : start - 1].isalnum():
        start -= 1
    before = text[start - 1 : start]
    inside = getattr(_IS, _ENCLOSED[before]).match(text, start) if before in _ENCLOSED else None
    if inside is not None and " " not in inside[0]:
        return start, inside.end() - 2 * inside[0].endswith(("\\r", "\\n"))
    bare = _IS.bare.match(text, start)
    if bare is None:
        return at, at
    end = bare.end()
    if cut := _IS.cut.search(text, max(start + 1, at), end):
        end = cut.start()
    frame = text[start - 1 : start] if text[start - 1 : start] in "*_" else ""
    return start, start + len(text[start:end].rstrip(_ENDS + frame))


# --- columns ---

_FRAME = " \"'`*\r"
_BLANKS = "  "
"""What parts columns that are as wide as their widest cell."""
_HEADERS = {"|": "bars", "\u2502": "lines_drawn", "\t": "tabs", ";": "semicolons", ",": "commas"}
_HEADERS[_BLANKS] = "blanks"
_LONGEST = 400
"""Characters of the longest heading that is read."""
_VAIN = 8
"""Rows without a digit after which a column is believed to hold no secret."""


def column(text: str, found: re.Match[str], word: SecretName) -> Iterator[Span]:
    """Yield what stands in the column that a secret's name heads, if it heads one."""
    if word.is_weak or not _IS.after.match(text, found.end()):
        return
    listed = _IS.values.match(text, found.end())
    for at, cell in _listed(text, found, listed.end()) if listed else _below(text, found):
        if shapes.is_drawn(cell) or shapes.is_made_up(cell, word, is_joined=True):
            yield Span(at, at + len(cell), word.name)


def _below(text: str, found: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield the cells below a name that is in a line of headings, and where each starts."""
    start = text.rfind("\n", 0, found.start()) + 1
    head, end = _line(text, start)
    if copied := _IS.copied.match(text, found.end()):
        start = text.rfind("(", start, found.start()) + 1
        sign, head, end = "\t", text[start : copied.end()].replace(",", "\t"), copied.end()
    else:
        sign = next((each for each in _HEADERS if each in head.strip()), "")
        if not sign or len(head) > _LONGEST or not getattr(_IS, _HEADERS[sign]).fullmatch(head):
            return
    cells = _split(head, sign)
    number = sum(at <= found.start() - start for at, _ in cells) - 1
    yield from _cells(text, end, sign=sign, width=len(cells), number=number)


def _cells(text: str, end: int, *, sign: str, width: int, number: int) -> Iterator[tuple[int, str]]:
    """Yield the filled cells of a column below a heading's end, and where each starts."""
    vain = 0
    while end < len(text) and vain < _VAIN:
        start = end + 1
        row, end = _line(text, start)
        if _IS.ruler.fullmatch(row):
            continue
        cells = _split(row, sign)
        if len(cells) != width:
            return
        offset, cell = cells[number]
        value = cell.strip(_FRAME)
        vain += not any(map(str.isdigit, value))
        if value and " " not in value:
            yield start + offset + cell.index(value), value


def _split(row: str, sign: str) -> list[tuple[int, str]]:
    """Return the cells of a row, and where each starts."""
    if sign == _BLANKS:
        return [(cell.start(), cell[0]) for cell in _IS.cell.finditer(row)]
    cells, at = [], 0
    for cell in row.split(sign):
        cells.append((at, cell))
        at += len(cell) + 1
    return cells


def _line(text: str, start: int) -> tuple[str, int]:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return text[start:end], end


def _listed(text: str, found: re.Match[str], at: int) -> Iterator[tuple[int, str]]:
    """Yield the items that stand at the name's place in the lists that follow `VALUES`."""
    opened = text.rfind("(", max(0, found.start() - 400), found.start())
    number = text.count(",", opened, found.start())
    while text.startswith("(", at):
        index = 0
        while item := _IS.item.match(text, at + 1):
            value = item[0].strip(" \"'\n\t")
            if index == number:
                yield item.start() + item[0].index(value), value
            at = item.end()
            if not text.startswith(",", at):
                break
            index += 1
        more = _IS.next.match(text, at)
        at = more.end() if more else len(text)
