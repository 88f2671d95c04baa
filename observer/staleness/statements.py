"""Parsing a statement of a decision: its subject, its amounts, and what it replaces; pure.

`read` parses a statement: the words of its subject, its amounts, what it replaces, adds, exempts or
revokes, and which of two things it orders first. `supersession` compares two of them. Questions,
reports and repetitions decide nothing, and so supersede nothing: that is the first test of every
comparison.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from observer.core.patterns import lazy_pattern
from observer.core.value import Value
from observer.staleness import phrases
from observer.staleness.amounts import Quantity, Words, amounts_of, stem, stems
from observer.staleness.clauses import PREPOSITIONS, Frame, frame_of, known
from observer.staleness.verbs import is_gerund, is_verb_only

_ASKED = lazy_pattern(
    r"""\A\W*(?:(?:and|but|so|or|also|then|hm+|ok(?:ay)?)\b[\s,]*)*
    (?:(?:wh(?:y|at|ich|o|ose|ere|en)|how|is|are|was|were|do|does|did|should|shall|may|might|has
    |have|had|isn't|aren't|doesn't|don't|won't)\b|(?:can|could|would|will)\b(?!\ you\b))""",
    re.IGNORECASE | re.VERBOSE,
)
"""How questions begin; "can you …?" asks for something to be done."""
_CHANGED = (
    r"(?:chang|mov|switch|migrat|renam|replac|upgrad|downgrad|rais|lower|reduc|increas|bump|cut|drop"
    r"|remov|delet|add|allow|lift|agree|settl|decid|postpon|push|pull|extend|shorten|hand|transfer"
    r"|cancel|retir|deprecat|disabl|enabl|revok|scrapp|split|merg|promot|limit|restrict|stopp"
    r"|reschedul|delay|shift|relocat|reassign|assign|pick|adopt|reverted|revert|bann)\w*|took\ over"
    r"|chosen|chose|set|put|went\ (?:back|with)|made\ (?:it|that)"
)
"""Verbs whose past form states a decision rather than an event."""
_REPORTS = lazy_pattern(
    r"""\b(?:right\ now|at\ (?:the\ moment|present|this\ point)|currently|as\ we\ speak|so\ far
    |today's|yesterday(?:'s)?|tonight's|last\ night|on\ average|measured|observed|turned\ out
    |in\ (?:the|our)\ (?:last|latest|previous|most\ recent)\ \w+
    |there(?:'s|\ is|\ are|\ were|\ was)\ (?:now\ |already\ )?\d
    |ha(?:s|ve)\ (?:\w+ly\ )?(?:grown|reached|risen|fallen|climbed|shrunk|doubled|halved
     |hit|been\ (?:done|finished))
    |(?:half|(?:one|two|three|a)[ -](?:third|quarter|half)s?)\ (?:\w+\ )?
     (?:done|finished|complete[d]?|written|migrated|through)
    |today\Z
    |(?:this|last)\ (?:morning|week|month|sprint|quarter|year|night)
     (?:'s|:|\Z|\ (?=(?:is|was|had)\b))
    |(?:the|our)\ (?:last|latest|previous|most\ recent)\ (?:build|run|batch|release|test|deploy\w*
     |measurement|benchmark|export|import|report|backup|incident)
    |\A(?:\w+\ )?(?:half|most|some|one|two|three|all|a\ third|a\ quarter|parts?|\d+\ ?%)
     \ of\ (?:\w+\ ){0,5}?
     (?:is|are|was|were|done|finished|complete[d]?|written|migrated|ready|left)
    |(?:mostly|partly|nearly|almost|already|\d+\ ?%)\ (?:done|finished|complete[d]?|written
     |ready|implemented|migrated|there)
    |(?:is|are)\ (?:now\ )?(?:done|finished|complete|in\ progress|under\ way|pending|failing|broken
     |down|stuck|passing|green|red)\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
"""What says how things are at one time."""
_SINCE = lazy_pattern(
    r"\bsince\s(?:this|last|yesterday|the\s(?:last|latest|new)|mon|tues|wednes|thurs|fri)",
    re.IGNORECASE,
)
_PAST = lazy_pattern(
    rf"""\b(?:took|came|ran|went|gave|got|saw|fell|rose|grew|hit|reached|lasted|spent
    |had|noticed|happened|exceeded|peaked|dropped\ to
    |(?<!-)(?:fail|crash|finish|complet|succeed|answer|respond)ed
     (?=\ (?:in|after|with|at|on|for|within|the|a|an|\d)\b|\W*\Z)
    |went\ (?:up|down)|(?:was|were)\ (?!(?:\w+ly\ )?(?:{_CHANGED})))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PAST_DECISION = lazy_pattern(rf"\b(?:{_CHANGED})\b", re.IGNORECASE)
_UNCHANGED = lazy_pattern(
    r"""\b(?:still|remains?|stays?|unchanged|no\ changes?|nothing\ changes|continues?\ to
    |keeps?\ (?:being|using)|we're\ keeping)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_REMINDS = lazy_pattern(
    r"""\b(?:same\ as\ (?:before|ever|always)|(?:a|friendly|quick)\ reminder|as\ before
    |as\ (?:already\ )?(?:said|agreed|discussed|decided|planned|mentioned|usual|ever|established)
    |(?:like|as)\ (?:we|i)\ (?:\w+\ )?(?:said|agreed|discussed|decided|planned)
    |(?:don't|do\ not)\ forget|just\ to\ (?:recap|confirm|repeat)|to\ (?:recap|confirm|repeat)
    |reminder|remember|recap|once\ more)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OVERRIDES = lazy_pattern(
    r"""\b(?:instead|from\ now\ on|no\ longer|any\ ?more|any\ longer|going\ forward|henceforth
    |on\ (?:second\ thoughts?|reflection)|scratch\ that|changed\ (?:my|our)\ minds?|after\ all
    |except|unless|exempt|but\ not|other\ than|apart\ from|others?|rest)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DEMANDS = lazy_pattern(r"\b(?:decided|agreed|let's|must|should|shall)\b", re.IGNORECASE)
"""With these a sentence decides, whatever it reports beside."""


def is_question(text: str) -> bool:
    """Return True for a question without its answer, or what asks whether something should be."""
    shown = text.replace("\u2019", "'").strip()
    asked, mark, answer = shown.partition("?")
    if mark and not answer.strip(" )\"'"):
        return _ASKED.match(asked) is not None or not _is_request(asked)
    return bool(mark) and _ASKED.match(asked) is not None and "?" in answer


def _is_request(asked: str) -> bool:
    return (
        re.match(r"\W*(?:\w+,? ){0,2}(?:can|could|would|will) you\b", asked, re.IGNORECASE)
        is not None
    )


def is_report(clause: str, text: str) -> bool:
    """Return True if the clause that a text begins with says how things are, or were."""
    if _OVERRIDES.search(clause) or _DEMANDS.search(clause):
        return False
    if _REPORTS.search(clause) or _SINCE.search(text):
        return True
    return _PAST.search(clause) is not None and _PAST_DECISION.search(clause) is None


def is_repetition(clause: str, text: str) -> bool:
    """Return True for what says that something is as it was, in a clause or beside it."""
    if _OVERRIDES.search(text):
        return False
    return _UNCHANGED.search(clause) is not None or _REMINDS.search(text) is not None


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
    amounts: tuple[Quantity, ...] = ()
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
