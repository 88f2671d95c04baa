"""Sentences of a person that decide something for later work, or forbid it.

Part of interpretation (step 6), pure. What a prompt merely asks to be done now is no decision; so
the forms are few, and miss rather than mistake. What is found is proposed, never in force: text
that somebody pasted must not become a rule.
"""

from __future__ import annotations

import re
from itertools import islice

from observer.interpret.prompts import words_of
from observer.interpret.suspicion import suspicion
from observer.interpret.wording import ENDS, WIDE_ENDS, one_line

PROMPT_CHARS = 3_000
"""A longer prompt is a document that was pasted."""
LEAST_CHARS, MOST_CHARS = 15, 400
MOST = 2
"""Decisions taken from one prompt."""

_BETWEEN = re.compile(rf"(?<=[{ENDS}])\s+(?=\S)|(?<=[{WIDE_ENDS}])|\n+")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(
    r"^[ \t]*>[^\n]*$"
    r"|^[^\n]{0,200}\b(?:says|said|wrote|writes|states|stated|reads|replied|commented|suggests"
    r"|suggested)\b[^\n:]{0,60}:[ \t]*\n+(?:[^\n]+(?:\n|\Z))+",
    re.MULTILINE,
)
"""What others wrote: lines quoted as in mail, and the paragraph behind `the guide says:`."""
_BULLET = re.compile(r"^(?:[-*\u2022]|\d{1,2}[.)])\s+")
_OPENING = (
    r"(?:(?:ok(?:ay)?|so|and|but|also|please|note|then|well|yes|no|right|actually|hm+|good|great"
    r"|decision|rule|important|reminder|btw|fyi)\b[,:;.!\s-]*){0,3}"
)
_REASON = r"\b(?:because|since|as (?:it|we|they|the)|so that|otherwise|due to|in order to)\b"
_ALTERNATIVE = r"\b(?:instead of|rather than|and not|not (?:the |a )?[\w-]+$|, not |over \w+)"
_FROM_NOW = (
    r"\b(?:from now on|going forward|in (?:the )?future|as of (?:now|today)|from today|henceforth"
    r"|as a (?:general )?rule)\b"
)
_LASTING = rf"(?:{_FROM_NOW}|\b(?:for all (?:future|new|other)|in general|by default|everywhere)\b)"
_CHOOSING = (
    r"(?:use|using|go with|stick (?:to|with)|switch to|move to|adopt|choose|pick|keep|avoid|drop"
    r"|stop using|standardi[sz]e on|settle on|store|write|name|put|support|target|base|build)\b"
)
_ACTING = (
    r"(?:merge|deploy|release|ship|push|commit|publish|touch|change|edit|modify|upgrade|delete"
    r"|remove|rename|use|add|run|start|call|mock|log|store|rely|depend|import|write|amend|rebase"
    r"|squash|install|bump|enable|disable|expose|cache|copy|generate|break|skip|bypass|format)\b"
)
_FORMS = tuple(
    re.compile(_OPENING + form, re.IGNORECASE)
    for form in (
        (
            rf"(?:let's|let us|we(?:'ll|\ will|\ should|\ want\ to)?)\ (?:always\ |never\ |only\ "
            rf"|not\ )?"
            rf"{_CHOOSING}.*(?:{_REASON}|{_ALTERNATIVE}|{_LASTING}|\bfor\ (?!now\b|a\ (?:moment"
            rf"|while)|the\ moment)\w)"
        ),
        (
            rf"(?:i|we)(?:'d|\ would)?\ (?:prefer|rather)\b.*(?:{_ALTERNATIVE}|{_REASON}"
            rf"|\bto\ {_CHOOSING})"
        ),
        (
            r"(?:i|we)(?:'ve|\ have)?\ (?:now\ |finally\ )?(?:decided|agreed|settled|chosen|chose"
            r"|opted)"
            r"\b(?:\ (?:to|on|that|against|for|not)\b|\ \w)"
        ),
        r"(?:it\ was|it's|that's)\ (?:decided|agreed|settled)\b",
        rf"(?:.{{0,200}}?[\s,]|){_FROM_NOW}(?:[,:\s].*|\.?$)",
        rf"(?:.{{3,120}}?[\s,]|)(?:should|must|use|keep)\ .*{_LASTING}.*",
        (
            rf"(?:(?:in|for|on|when)\ .{{3,60}}?,?\ )?(?:we|it|they|you|this)\ (?:should"
            rf"|must)\ (?:not|never|only|always)\ "
            rf".*(?:{_REASON}|{_ALTERNATIVE}|\bbut\ (?:instead|only|rather)\b"
            rf"|\bin\ .{{3,30}}\ mode\b).*"
        ),
        rf"let's\ (?:only|not)\ .*(?:{_REASON}|{_ALTERNATIVE}|\bto\ (?:avoid|keep|prevent)\b).*",
        (
            r"(?:you\ (?:must|should)\ |we\ (?:must\ |should\ )?|i\ want\ you\ to\ |must\ "
            r"|make\ sure\ to\ )?"
            r"(?:always|never|don't\ ever|do\ not\ ever)\ (?!mind\b|been?\b|seen?\b|had\b"
            r"|works?\b|gets?\b"
            r"|shows?\b|appears?\b|happens?\b|fails?\b)[a-z]{2,}\b.{4,}"
        ),
        (
            rf"(?:please\ )?(?:you\ must\ not|we\ (?:must\ not|don't|do\ not|shouldn't"
            rf"|should\ not|can't|cannot)"
            rf"|don't|do\ not|no\ one\ may|nobody\ may)\ {_ACTING}.*"
            r"\b(?:before|until|unless|without|by\ hand|manually|directly|any\ ?more|ever|again"
            r"|except|on\ fridays"
            r"|in\ (?:production|main|master|this\ (?:repo|project|package)))\b"
        ),
        (
            r"(?:all|every|each|any|no|only|new)\ [\w\s/.-]{2,60}?\b(?:must|should|shall|has\ to"
            r"|have\ to|may"
            r"|needs?\ to|are\ required|is\ required|cannot|can't)\b.{4,}"
        ),
        (
            rf"we\ (?:(?:only|always|never|no\ longer)\ )?(?:use|require|support|target|deploy"
            rf"|release)\ .*"
            rf"(?:{_ALTERNATIVE}|{_REASON}|\bfor\b|\bin\ this\b|\bhere\b)"
        ),
        (
            rf"(?:use|prefer|stick\ (?:to|with)|go\ with|keep|choose)\ .*(?:{_ALTERNATIVE}"
            rf"|{_REASON}|{_LASTING})"
        ),
        r"(?:decision|rule|constraint|convention|policy|agreed)\s*:\s*\S.{8,}",
    )
)
_DOCUMENT = re.compile(
    r"\A\s*(?:/|implement the following plan)|^#{1,3} ", re.MULTILINE | re.IGNORECASE
)
"""A plan or a page that was pasted, which somebody or something else wrote."""
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|not sure|i think we could|could we|should we|shall we|what if"
    r"|how about"
    r"|do you think|wonder|or should|what do you|is it possible|can you explain|why)\b",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:this (?:one|time|branch|commit|pr|change|line|page|bug|error|message|button|file)"
    r"|here\b.*:$|above"
    r"|below|for now|just now|the (?:error|screenshot|log|output|failing|same (?:way"
    r"|thing)))\b|https?://",
    re.IGNORECASE,
)
"""What is about the work at hand, and nothing that holds later."""


def decisions(prompt: str) -> tuple[str, ...]:
    """Return the sentences of a prompt that decide something, whole, in order.

    >>> decisions("Fix the cart. Let's use Decimal for prices because cents get lost.")
    ("Let's use Decimal for prices because cents get lost.",)
    """
    text = words_of(prompt)
    if is_document(text):
        return ()
    found = (one for one in sentences(text) if is_decision(one) and not suspicion(one))
    return tuple(islice(found, MOST))


def is_document(text: str) -> bool:
    """Return True if a prompt holds more than a person's own words."""
    return len(text) > PROMPT_CHARS or _DOCUMENT.search(text) is not None


def sentences(text: str) -> list[str]:
    """Return the sentences outside code and quotations, without the marks of lists."""
    own = _QUOTED.sub("", _FENCED.sub("\n", text))
    parts = (_BULLET.sub("", part.strip()) for part in _BETWEEN.split(own))
    return [one_line(part, MOST_CHARS + 1) for part in parts if part]


def is_decision(sentence: str) -> bool:
    """Return True if a sentence decides or forbids something beyond the work at hand."""
    shown = sentence.replace("\u2019", "'")
    if not LEAST_CHARS <= len(shown) <= MOST_CHARS or shown.endswith(("?", ":")):
        return False
    if _UNSURE.search(shown) or _AT_HAND.search(shown):
        return False
    return any(form.match(shown) for form in _FORMS)
