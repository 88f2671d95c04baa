"""What a statement of a decision is about, what it says of that, and how it speaks of others; pure.

`read` takes a statement apart: the words of its subject, its amounts, what it replaces, adds,
exempts or takes back, and which of two things it puts first. `succession` compares two of them.
"""

from __future__ import annotations

from functools import lru_cache

from observer.events import Value
from observer.truth import phrases
from observer.truth.stemming import Words, stem, stems, unit_of

TEXT_CHARS = 600
"""How much of a text is compared: what it is about stands at its beginning."""


class Amount(Value):
    """A number with what it counts or is measured in, empty where nothing says it."""

    number: str
    unit: str = ""


class Statement(Value):
    """A statement taken apart; words are stems.

    `subject` are the words that say something before any reason is given, `words` those of the
    whole text. `replaced` are words that it says to be over, `scope` what it restricts itself to,
    `listed` what it names side by side. `order` are the things that come first and second,
    `choice` a topic and what is chosen for it. `question` is what it answers, if it does.
    """

    text: str
    subject: Words
    words: Words
    amounts: tuple[Amount, ...] = ()
    replaced: Words = frozenset()
    scope: Words = frozenset()
    listed: Words = frozenset()
    order: tuple[Words, Words] | None = None
    choice: tuple[Words, Words] | None = None
    question: Words = frozenset()
    sequence: tuple[str, ...] = ()
    is_change: bool = False
    is_extension: bool = False
    is_exception: bool = False
    is_exemption: bool = False
    is_permission: bool = False
    is_universal: bool = False
    is_open: bool = False
    is_negative: bool = False
    is_absolute: bool = False
    allows_again: bool = False


@lru_cache(maxsize=8192)
def read(text: str) -> Statement:
    """Take a statement apart."""
    shown = phrases.LEAD.sub("", text[:TEXT_CHARS].replace("\u2019", "'").strip())
    asked, answer = _asked(shown)
    head = phrases.MARKS.sub(" ", _head(answer)).strip()
    return Statement(
        text=shown,
        subject=stems(head),
        words=stems(shown),
        sequence=tuple(phrases.WORD.findall(shown.lower())),
        amounts=_amounts(head),
        replaced=_replaced(shown),
        scope=frozenset(one for found in phrases.SCOPE.finditer(head) for one in stems(found[1])),
        order=_order(phrases.CLAUSE.split(answer)[0]),
        choice=_choice(head),
        question=stems(asked),
        is_change=phrases.CHANGES.search(text[:TEXT_CHARS]) is not None,
        is_extension=phrases.EXTENDS.search(head) is not None,
        is_exception=phrases.EXCEPTS.search(shown) is not None,
        is_exemption=phrases.EXEMPTS.search(shown) is not None,
        is_permission=phrases.ALLOWS.search(shown) is not None,
        is_universal=phrases.UNIVERSAL.search(shown) is not None,
        listed=frozenset(one for found in phrases.LIST.finditer(head) for one in stems(found[1])),
        is_open=phrases.OPEN_LIST.search(shown) is not None,
        is_negative=phrases.NEGATIVE.search(head) is not None,
        is_absolute=phrases.ABSOLUTE.search(head) is not None,
        allows_again=phrases.AGAIN.search(shown) is not None,
    )


def _asked(text: str) -> tuple[str, str]:
    """Return the question that a text begins with, and what stands behind it."""
    asked, mark, answer = text.partition("?")
    is_answered = mark and len(asked) < 300 and "\n\n" not in asked and answer.strip()
    return (asked, answer.strip()) if is_answered else ("", text)


def _head(text: str) -> str:
    """Return a text without the reasons and remarks behind its first clause that says something."""
    for end in phrases.CLAUSE.finditer(text):
        if len(stems(text[: end.start()])) > 1:
            text = text[: end.start()]
            break
    for comma in phrases.COMMA.finditer(text):
        if len(stems(text[: comma.start()])) > 1:
            return text[: comma.start()]
    return text


def _amounts(text: str) -> tuple[Amount, ...]:
    found = []
    for number, unit, noun in phrases.AMOUNT.findall(text):
        named = (unit or noun).lower()
        if number[0].isalpha() and (not named or named in phrases.EMPTY):
            continue
        kind = unit_of(named) or ("time" if ":" in number else "")
        plain = phrases.NUMBERS.get(number.lower(), number.replace("_", "").replace(",", ""))
        measured = f"{plain} {named.removesuffix('s')}" if kind else plain
        counted = "" if noun.lower() in phrases.EMPTY else stem(noun.lower())
        found.append(Amount(number=measured, unit=kind or counted))
    if not found:
        found = [
            Amount(number=word, unit=f"per {unit}")
            for word in phrases.WORD.findall(text.lower())
            if len(word) > 2 and (unit := unit_of(word))
        ]
    return tuple(found)


def _replaced(text: str) -> Words:
    found: set[str] = set()
    for each in phrases.REPLACED.finditer(text):
        found |= stems(phrases.END_OF_REPLACED.split(each[1])[0])
    return frozenset(found)


def _order(text: str) -> tuple[Words, Words] | None:
    for pattern, is_backward in phrases.ORDERS:
        if found := pattern.match(text):
            first, second = stems(found[1]), stems(_head(found[2]))
            if first and second:
                return (second, first) if is_backward else (first, second)
    return None


def _choice(text: str) -> tuple[Words, Words] | None:
    for pattern in phrases.CHOICES:
        if found := pattern.fullmatch(text):
            topic = stems(f"{found['topic']} {found['more'] or ''}")
            value = frozenset(phrases.WORD.findall(found["value"].lower())) - phrases.EMPTY
            if topic and value:
                return topic, frozenset(stem(word) for word in value)
    return None
