"""What a statement of a decision is about, what it says of that, and how it speaks of others; pure.

`read` takes a statement apart: the words of its subject, its amounts, what it replaces, adds,
exempts or takes back, and which of two things it puts first. `succession` compares two of them.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from observer.events import Value
from observer.truth import phrases
from observer.truth.amounts import Amount, amounts_of
from observer.truth.clauses import PREPOSITIONS, known
from observer.truth.deciding import is_question, is_repetition, is_report
from observer.truth.frames import Frame, frame_of
from observer.truth.stemming import Words, stem, stems
from observer.truth.verbs import is_gerund, is_verb_only

TEXT_CHARS = 600
"""How much of a text is compared: what it is about stands at its beginning."""


class Statement(Value):
    """A statement taken apart; words are stems.

    `subject` are the words that say something before any reason is given, `words` those of the
    whole text. `replaced` are words that it says to be over, `scope` what it restricts itself to,
    `listed` what it names side by side. `order` are the things that come first and second,
    `choice` a topic and what is chosen for it. `question` is what it answers, if it does.
    `plain` is the text without reasons and remarks, `nouns` its words without verbs, `known` all
    words of the text. `polarity` are words that have opposites, `reach` says whether it is of "all"
    there is or of "some".
    """

    text: str
    plain: str
    subject: Words
    words: Words
    amounts: tuple[Amount, ...] = ()
    replaced: Words = frozenset()
    scope: Words = frozenset()
    listed: Words = frozenset()
    order: tuple[Words, Words] | None = None
    choice: tuple[Words, Words] | None = None
    frame: Frame = Frame()
    nouns: Words = frozenset()
    known: Words = frozenset()
    polarity: tuple[str, ...] = ()
    reach: str = ""
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
    is_denied: bool = False
    is_excuse: bool = False
    is_bound: bool = False
    is_absolute: bool = False
    allows_again: bool = False
    is_question: bool = False
    is_report: bool = False
    is_repetition: bool = False


@lru_cache(maxsize=8192)
def read(text: str) -> Statement:
    """Take a statement apart."""
    said = text[:TEXT_CHARS].replace("\u2019", "'").strip()
    shown = phrases.LEAD.sub("", said)
    asked, answer = _asked(shown)
    plain = _head(answer)
    head = phrases.MARKS.sub(" ", plain).strip()
    frame = frame_of(head)
    statement = Statement(
        text=shown,
        plain=plain,
        subject=stems(head),
        words=stems(shown),
        sequence=tuple(phrases.WORD.findall(shown.lower())),
        amounts=amounts_of(head),
        replaced=_replaced(shown),
        scope=frozenset(one for found in phrases.SCOPE.finditer(head) for one in stems(found[1])),
        order=_order(phrases.CLAUSE.split(answer.replace("first;", "first,"))[0]),
        choice=_choice(head),
        frame=frame,
        nouns=_nouns(head, frame),
        known=known(shown),
        polarity=tuple(phrases.POLES.findall(head.lower())),
        reach=_reach(plain),
        listed=frozenset(one for found in phrases.LIST.finditer(head) for one in stems(found[1])),
        question=stems(asked),
    )
    return _marked(statement, said, head)


def _marked(statement: Statement, said: str, head: str) -> Statement:
    """Return a statement with the marks by which it speaks of others."""
    shown, plain = statement.text, statement.plain
    return replace(
        statement,
        is_question=is_question(said),
        is_report=is_report(plain, said),
        is_repetition=is_repetition(plain, said),
        is_change=phrases.CHANGES.search(said) is not None,
        is_extension=phrases.EXTENDS.search(head) is not None,
        is_exception=phrases.EXCEPTS.search(shown) is not None,
        is_exemption=phrases.EXEMPTS.search(shown) is not None,
        is_permission=phrases.ALLOWS.search(shown) is not None,
        is_universal=phrases.UNIVERSAL.search(shown) is not None,
        is_open=phrases.OPEN_LIST.search(shown) is not None,
        is_denied=phrases.DENIES.search(head) is not None,
        is_bound=phrases.BOUNDS.search(plain) is not None,
        is_excuse=phrases.EXCUSES.search(shown) is not None,
        is_negative=phrases.NEGATIVE.search(head) is not None,
        is_absolute=phrases.ABSOLUTE.search(head) is not None,
        allows_again=phrases.AGAIN.search(shown) is not None,
    )


def _nouns(text: str, frame: Frame) -> Words:
    """Return the stems of a text without those of its verbs; "signing key" names a key."""
    words = phrases.WORD.findall(text.lower())
    kept = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if not is_verb_only(word) and not (before in PREPOSITIONS and is_gerund(word))
    ]
    return stems(" ".join(kept)) - {frame.doing}


def _reach(text: str) -> str:
    """Return whether a statement is of all there is or of some; empty if it says neither."""
    said = [name for name, pattern in phrases.REACHES if pattern.search(text)]
    return said[0] if len(said) == 1 else ""


def _asked(text: str) -> tuple[str, str]:
    """Return the question that a text begins with, and what stands behind it."""
    asked, mark, answer = text.partition("?")
    is_answered = mark and len(asked) < 300 and "\n\n" not in asked and answer.strip()
    return (asked, answer.strip()) if is_answered else ("", text)


def _head(text: str) -> str:
    """Return a text without the reasons and remarks behind its first clause that says something."""
    for end in phrases.CLAUSE.finditer(text):
        before = text[: end.start()]
        if ":" in end[0] and len(before.split()) <= 3:
            continue
        if _says_something(before):
            text = text[: end.start()]
            break
    for comma in phrases.COMMA.finditer(text):
        if _says_something(text[: comma.start()]):
            return text[: comma.start()]
    return text


def _replaced(text: str) -> Words:
    found: set[str] = set()
    for each in phrases.LEAVING.finditer(text):
        found |= stems(each[1] or each[2])
    for each in phrases.REPLACED.finditer(text):
        found |= stems(phrases.END_OF_REPLACED.split(each[1])[0])
    return frozenset(found)


def _says_something(text: str) -> bool:
    return len(stems(text)) + any(map(str.isdigit, text)) > 1


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
