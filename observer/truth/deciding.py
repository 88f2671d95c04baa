"""Whether a sentence decides anything: questions, reports and repetitions do not; pure.

The first gate of every comparison: what does not decide takes nobody's place.
"""

from __future__ import annotations

import re

_ASKED = re.compile(
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
"""Verbs of which a past form tells of a decision, not of an event."""
_REPORTS = re.compile(
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
_SINCE = re.compile(
    r"\bsince\s(?:this|last|yesterday|the\s(?:last|latest|new)|mon|tues|wednes|thurs|fri)",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"""\b(?:took|came|ran|went|gave|got|saw|fell|rose|grew|hit|reached|lasted|spent
    |had|noticed|happened|exceeded|peaked|dropped\ to
    |(?<!-)(?:fail|crash|finish|complet|succeed|answer|respond)ed
     (?=\ (?:in|after|with|at|on|for|within|the|a|an|\d)\b|\W*\Z)
    |went\ (?:up|down)|(?:was|were)\ (?!(?:\w+ly\ )?(?:{_CHANGED})))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PAST_DECISION = re.compile(rf"\b(?:{_CHANGED})\b", re.IGNORECASE)
_UNCHANGED = re.compile(
    r"""\b(?:still|remains?|stays?|unchanged|no\ changes?|nothing\ changes|continues?\ to
    |keeps?\ (?:being|using)|we're\ keeping)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_REMINDS = re.compile(
    r"""\b(?:same\ as\ (?:before|ever|always)|(?:a|friendly|quick)\ reminder|as\ before
    |as\ (?:already\ )?(?:said|agreed|discussed|decided|planned|mentioned|usual|ever|established)
    |(?:like|as)\ (?:we|i)\ (?:\w+\ )?(?:said|agreed|discussed|decided|planned)
    |(?:don't|do\ not)\ forget|just\ to\ (?:recap|confirm|repeat)|to\ (?:recap|confirm|repeat)
    |reminder|remember|recap|once\ more)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OVERRIDES = re.compile(
    r"""\b(?:instead|from\ now\ on|no\ longer|any\ ?more|any\ longer|going\ forward|henceforth
    |on\ (?:second\ thoughts?|reflection)|scratch\ that|changed\ (?:my|our)\ minds?|after\ all
    |except|unless|exempt|but\ not|other\ than|apart\ from|others?|rest)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DEMANDS = re.compile(r"\b(?:decided|agreed|let's|must|should|shall)\b", re.IGNORECASE)
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
