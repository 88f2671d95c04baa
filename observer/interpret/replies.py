"""What an agent's own words are worth keeping: what it found out, and what it left to do.

Part of interpretation (step 6). Sentences are picked whole and never rewritten; announcements
("Let me look at …") are left out.
"""

from __future__ import annotations

import re

from observer.events import Value
from observer.interpret.wording import ENDS, WIDE_ENDS, distinct, one_line

_READ_CHARS = 12_000
_SENTENCES = 4
_SENTENCE_CHARS = 300

_BETWEEN = re.compile(rf"(?<=[{ENDS}])\s+|(?<=[{WIDE_ENDS}])|\n+")
_BULLET = re.compile(r"^(?:[-*•+>#]+|\d{1,2}[.)])\s+")
_BOILERPLATE = re.compile(
    r"(?:let me|let's|i'll|i will|i'm going|i am going|i can |now i|now let|sure|great|okay|ok,"
    r"|perfect|certainly|here's|here is|here are|of course|thank|you're|sorry|tool ran|would you"
    r"|want me|shall i|should i|do you|feel free)\b",
    re.IGNORECASE,
)
_LESSONS = (
    "because",
    "root cause",
    "turned out",
    "turns out",
    "caused by",
    "due to",
    "decided",
    "chose ",
    "instead of",
    "came from",
    "workaround",
    "works around",
    "must not",
    "trade-off",
    "problem was",
    "problem is",
    "issue was",
    "bug was",
    "cause was",
    "cause is",
    "culprit",
    "reason is",
    "reason was",
)
_PLAN = re.compile(
    r"(?:next(?: steps?)?\b|todo\b|remaining\b|left to do\b|still (?:to do|open|missing|needs?)\b"
    r"|follow[- ]ups?\b|not yet\b|i have not\b|i haven't\b)",
    re.IGNORECASE,
)
_PLAN_MARKS = ("next", "todo", "remain", "left to do", "still", "follow", "not yet", "i have")
_PLAN_INSIDE = re.compile(
    r"\b(?:next step|TODO|still (?:need|fail|miss)\w*|remains? to|not yet (?:\w+ )?(?:done|covered"
    r"|implemented|tested|fixed|committed|wired|handled))\b"
)


class Said(Value):
    """What is kept of a reply: its first telling sentence, lessons, and what was left to do."""

    lead: str = ""
    lessons: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()


def read(text: str) -> Said:
    """Read a reply or another text of an agent's."""
    sentences = _sentences(text[:_READ_CHARS])
    plans = _plans(text[-_READ_CHARS:])
    lessons = (one for one in sentences if len(one) > 20 and _is_lesson(one) and one not in plans)
    return Said(
        lead=next((one for one in sentences if len(one) > 15 and not one.endswith(":")), ""),
        lessons=distinct((one for one in lessons if not one.endswith("?")), _SENTENCES),
        plans=plans,
    )


def _is_lesson(sentence: str) -> bool:
    lower = sentence.lower()
    return any(mark in lower for mark in _LESSONS)


def _plans(text: str) -> tuple[str, ...]:
    """Return sentences of intent, and the points under a heading such as "Next steps"."""
    lower = text.lower()
    if not any(mark in lower for mark in _PLAN_MARKS):
        return ()
    found: list[str] = []
    is_listing = False
    for line in text.split("\n"):
        shown = _clean(line)
        is_point = _BULLET.match(line.strip()) is not None and not line.lstrip().startswith("#")
        if is_listing and is_point:
            found.append(shown)
        elif _is_heading(line, shown):
            is_listing = True
        elif shown:
            is_listing = False
            found += (one for one in _sentences(line) if _is_plan(one))
    return distinct((one for one in found if not one.endswith("?")), _SENTENCES)


def _is_heading(line: str, shown: str) -> bool:
    is_title = line.rstrip().rstrip("*").endswith(":") or line.lstrip().startswith(("#", "**"))
    return is_title and len(shown) < 40 and _PLAN.match(shown) is not None


def _is_plan(sentence: str) -> bool:
    is_told = _PLAN.match(sentence) or _PLAN_INSIDE.search(sentence)
    return bool(is_told) and len(sentence) > 12 and not sentence.endswith(":")


def _sentences(text: str) -> list[str]:
    shown = (_clean(part) for part in _BETWEEN.split(text))
    return [one for one in shown if one and not _BOILERPLATE.match(one)]


def _clean(part: str) -> str:
    return one_line(_BULLET.sub("", part.strip()).replace("**", ""), _SENTENCE_CHARS)
