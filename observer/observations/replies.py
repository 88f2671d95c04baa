"""Extract from an agent's replies what it learned, what it changed, and what it left to do.

Sentences are taken whole and never rewritten; announcements ("Let me look at …") are left out. The
path or name in front of a list item ("`cart.py` - Added …") stays with it.
"""

from __future__ import annotations

import re

from observer.core.patterns import lazy_pattern
from observer.core.text import ENDS, WIDE_ENDS, distinct, one_line, sentence_case, word_set
from observer.core.value import Value

_READ_CHARS = 12_000
_SENTENCES = 4
_SENTENCE_CHARS = 300
_HEADING_CHARS = 120

_BETWEEN = lazy_pattern(rf"(?<=[{ENDS}])\s+|(?<=[{WIDE_ENDS}])|\n+")
_BULLET = lazy_pattern(r"^(?:[-*•+>#]+|\d{1,2}[.)])\s+")
_BOILERPLATE = lazy_pattern(
    r"(?:let me|let's|i'll|i will|i'm going|i am going|i can |now i|now let|sure|great|okay|ok,"
    r"|perfect|certainly|here's|here is|here are|of course|thank|you're|sorry|tool ran|would you"
    r"|want me|shall i|should i|do you|feel free)\b",
    re.IGNORECASE,
)
_LESSONS = lazy_pattern(
    r"because|root cause|turned out|turns out|caused by|due to|decided|chose |instead of"
    r"|came from|workaround|works around|must not|trade-off|problem was|problem is|issue was"
    r"|bug was|cause was|cause is|culprit|reason is|reason was"
)
_PLAN = lazy_pattern(
    r"(?:(?:suggested |possible |recommended )?next(?: steps?| up)?\b(?!\.\w| time| generation)"
    r"|(?:still |left )?to[- ]?dos?\b|remaining\b|(?:what(?:'s| is) )?(?:still )?left(?: to do)?\b"
    r"|still (?:to do|to be|open|missing|pending|outstanding|needs?|left)\b"
    r"|(?:still )?outstanding\b|follow[- ]ups?\b"
    r"|not (?:yet |done(?: yet)?|implemented|included|covered|started|verified|tested)"
    r"|deferred\b|out of scope\b|open (?:points|items|tasks|work|todos)\b|pending\b"
    r"|i (?:have not|haven't|did not|didn't)\b"
    r"|i (?:was(?:n't| not) able to|could(?:n't| not)) (?:run|test|verify|finish|complete)\b"
    r"|n\u00e4chste schritte\b|noch (?:offen|zu tun)\b|offen:"
    r"|reste \u00e0 faire\b|\u00e0 faire\b|prochaines? \u00e9tapes?\b|pr\u00f3ximos pasos\b"
    r"|pendientes?\b|falta(?:n)?\b)",
    re.IGNORECASE,
)
_DUTY = lazy_pattern(
    r"(?:to (?:complete|finish|enable|activate) [^.:]{1,60},? |before [^.:]{1,60}, )?"
    r"you(?:'ll| will)? (?:(?:still|now|then|only|just) )?(?:need to|have to|must) ",
    re.IGNORECASE,
)
"""Phrases for what only the person can do."""
_OFFER = lazy_pattern(r"if you(?:'d| would)? (?:want|like|wish|prefer)\b", re.IGNORECASE)
_DECISION = lazy_pattern(
    r"(?:should i|shall i|should we|shall we|which|what should|how should|do you prefer|is it (?:ok"
    r"|fine|acceptable)|can you confirm|may i|can i)\b",
    re.IGNORECASE,
)
_PLAN_MARKS = lazy_pattern(
    r"next|todo|to-do|to do|remain|left|still|follow|not |i have|i did|deferred|out of scope"
    r"|open |pending|outstanding|schritte|noch |i was|i could|offen:|need to|have to|must"
    r"|faire|tape|pasos|pendiente|falta|\[ \]"
)
_DONE_POINT = lazy_pattern(r"\[x\]|\u2705|\u2714|\u2611|~~|\(done\)", re.IGNORECASE)
_OPEN_POINT = lazy_pattern(r"(?:[-*+]|\d{1,2}[.)])\s+\[ \]\s+(?P<said>\S.*)")
_NOT_LEFT = lazy_pattern(
    r"(?:none|nothing|no (?:remaining|open|further|more|other)\b)"
    r"|\b(?:nothing|none) (?:left|remains?)"
    r"|\b(?:pass(?:es|ed|ing)?|green|unchanged|untouched|unaffected|up to date)\b[.!]?$",
    re.IGNORECASE,
)
"""Phrases of a line that names no work left."""
_PLAN_INSIDE = lazy_pattern(
    r"\b(?:next step|TODO|still (?:need|fail|miss)\w*|remains? to|not yet (?:\w+ )?(?:done|covered"
    r"|implemented|tested|fixed|committed|wired|handled))\b"
)


class ReplyExtract(Value):
    """What is kept of a reply: its first informative sentence, lessons, and what is left to do.

    `is_whole` if `plans` come from a list, which names all that is left. `question` is one that the
    agent needs an answer to; an offer to do more does not count.
    """

    lead: str = ""
    lessons: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    is_whole: bool = False
    question: str = ""


def read(text: str) -> ReplyExtract:
    """Return what to keep of a reply, or of another text of an agent."""
    sentences = _sentences(text[:_READ_CHARS])
    plans, is_whole = _plans(text[-_READ_CHARS:])
    lessons = (one for one in sentences if len(one) > 20 and _is_lesson(one) and one not in plans)
    return ReplyExtract(
        lead=next((one for one in sentences if len(one) > 15 and not one.endswith(":")), ""),
        lessons=distinct((one for one in lessons if not one.endswith("?")), _SENTENCES),
        plans=plans,
        is_whole=is_whole,
        question=_question(text.rstrip()[-_SENTENCE_CHARS:]),
    )


def _question(end: str) -> str:
    last = _clean(_BETWEEN.split(end.rstrip("*_ "))[-1])
    return last if last.endswith("?") and _DECISION.match(last) else ""


def _is_lesson(sentence: str) -> bool:
    return _LESSONS.search(sentence.lower()) is not None


def _plans(text: str) -> tuple[tuple[str, ...], bool]:
    """Return what is left to do: sentences of intent, and list items under "Next steps".

    The second value is True if there was such a list.
    """
    if not _PLAN_MARKS.search(text.lower()):
        return (), False
    found: list[str] = []
    is_listing = is_whole = False
    for line in text.split("\n"):
        shown = _clean(line)
        unchecked = _OPEN_POINT.match(line.strip())
        if unchecked:
            found.append(_clean(unchecked["said"]))
            is_whole = True
        elif is_listing and _is_point(line):
            is_whole = True
            if not _DONE_POINT.search(line):
                found.append(shown)
        elif _is_heading(line, shown):
            is_listing = True
        elif shown:
            is_listing = False
            found += (one.rstrip(":") for one in _sentences(line) if _is_plan(one))
    left = (one for one in found if not one.endswith("?") and not _NOT_LEFT.search(one))
    return distinct(left, _SENTENCES), is_whole


def _is_point(line: str) -> bool:
    return _BULLET.match(line.strip()) is not None and not line.lstrip().startswith("#")


def _is_heading(line: str, shown: str) -> bool:
    is_title = line.rstrip().rstrip("*").endswith(":") or line.lstrip().startswith(("#", "**"))
    most = _HEADING_CHARS if shown.endswith(":") else _HEADING_CHARS // 3
    marker = _PLAN.match(shown)
    return marker is not None and len(shown) <= most and (is_title or marker.end() == len(shown))


def _is_plan(sentence: str) -> bool:
    if _DUTY.match(sentence):
        return True
    if _OFFER.match(sentence):
        return False
    is_plan = _PLAN.match(sentence) or _PLAN_INSIDE.search(sentence)
    return bool(is_plan) and len(sentence) > 12 and not sentence.endswith(":")


def _sentences(text: str) -> list[str]:
    shown = (_clean(part) for part in _BETWEEN.split(text))
    return [one for one in shown if one and not _BOILERPLATE.match(one)]


def _clean(part: str) -> str:
    return one_line(_BULLET.sub("", part.strip()).replace("**", ""), _SENTENCE_CHARS)


MOST = 5
_CHARS = 180
_LINE = lazy_pattern(r"\n+|(?<=[.!])\s+(?=[A-Z`*])")
_MARK = lazy_pattern(r"^(?:[-*\u2022+>]\s+|\d{1,2}[.)]\s+|#+\s+)+")
_SUBJECT = lazy_pattern(
    r"^(?:(?:i|we|i've|we've|it|this|i have|we have|also|done[.:!]?|fixed[.:!]|now|both)[,:]?\s+)*"
    r"(?:(?:now|also|successfully|just|then)\s+)*",
    re.IGNORECASE,
)
_LABEL = lazy_pattern(r"^[^:\u2013\u2014]{1,120}?(?:: | (?:[\u2013\u2014]|-{1,2}) )(?=\S)")
"""What introduces a change: a path, a symbol, "Fix 1", "The fix was simple"."""
_NOW = lazy_pattern(
    r"(?:the |a |`|when |each |every |all )?[^.;:]{1,80}? (?:now|no longer) "
    r"(?!(?:on|in|at|up|part|available|committed|pushed|clean)\b)[\w`\"']+|now,? (?:when|the) ",
    re.IGNORECASE,
)
_TRIVIAL = lazy_pattern(
    r"\w+:?\s+`[^`]*`(?: \([^)]*\))?[.]?$|.{0,60}\bimports?\b.{0,30}$", re.IGNORECASE
)
"""Only a path, or an import, which nobody searches for later."""
_VERBS = word_set("built cut hid made put rewrote set split sped undid wrote")
_NO_CHANGE = lazy_pattern(
    r"un(?!ified|linked|registered|wrapped)|(?:advanced|agreed|attached|based|caused|checked"
    r"|committed|completed|confirmed|deferred|detailed|ended|estimated|expected|failed|finished"
    r"|indeed|investigated|listed|looked|named|needed|noted|observed|passed|planned|postponed"
    r"|proposed|pushed|recommended|related|required|reviewed|shared|skipped|started|suggested"
    r"|supposed|tested|tried|verified)\Z"
)
"""Words in -ed that do not report a change of the code."""
_STATUS = lazy_pattern(
    r"(?:all |the )?(?:\d[\d,]* |\w+ )?"
    r"(?:tests?|checks?|lint|types?(?:check)?|build|hooks?|suite)\b.*\b(?:pass|green|clean|succeed|ok\b|fine)"
    r"|all (?:clean|green|good|done|set|changes|checks)"
    r"|(?:everything|no) (?:passes|works|is|errors|issues)|.{0,40}\bcommit(?:ted|s)?\b.{0,40}"
    r"(?:success|succeeded|created|went through|as `|\b[0-9a-f]{7}|is in)|(?:successfully )?"
    r"(?:committed|pushed|merged)\b|done\b|commit(?:ted)? (?:success|succe|`)|clean\b|pushed\b"
    r"|(?:lint|format|typecheck|build)\b.{0,30}$|i can't |the commit (?:is|was|went|succ)"
    r"|(?:working tree|branch) ",
    re.IGNORECASE,
)


def achievements_in(text: str) -> tuple[str, ...]:
    """Return the first changes that a reply reports, at most `MOST`."""
    lines = (
        _MARK.sub("", line.strip()).replace("**", "") for line in _LINE.split(text[:_READ_CHARS])
    )
    return distinct((one_line(line, _CHARS) for line in lines if _is_change(line)), MOST)


def unlabelled(sentence: str) -> str:
    """Return a report without its introduction, such as "The fix is simple:"."""
    label = _LABEL.match(sentence)
    if label is None or re.search(r"[`/._]", label[0]):
        return sentence
    return sentence_case(sentence[label.end() :])


def is_status(sentence: str) -> bool:
    """Return True if a sentence only says that work is done, committed, or that checks pass."""
    return _STATUS.match(sentence.lstrip("\u2705 *#-")) is not None


def is_change(sentence: str) -> bool:
    """Return True if a sentence reports a change."""
    return _is_change(_MARK.sub("", sentence.strip()).replace("**", ""))


def _is_change(line: str) -> bool:
    if len(line) < 15 or line.endswith(("?", ":")) or is_status(line) or _TRIVIAL.match(line):
        return False
    unlabelled = _LABEL.sub("", line)
    return any(map(_is_report, (line, unlabelled, _LABEL.sub("", unlabelled))))


def _is_report(text: str) -> bool:
    bare = _SUBJECT.sub("", text, count=1)
    word = bare.partition(" ")[0].lower().rstrip(",:")
    is_verb = word in _VERBS or (word.endswith("ed") and word.isalpha() and len(word) > 4)
    return (is_verb and not _NO_CHANGE.match(word)) or any(map(_NOW.match, (text, bare)))
