"""Detect a person's decisions: in the sentences of a prompt, and in answers to an agent's question.

A decision holds for later work; what a prompt asks to be done now is not one. The patterns are few
and prefer misses to mistakes. What is found is only proposed, never in force, as pasted text must
not become a rule.

Clients ask questions with tools of different shapes: `AskUserQuestion` (Claude Code), `ask_user`
(Copilot), `request_user_input` (Codex), `AskQuestion` (Cursor) and others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from observer.core.events import ToolUse
from observer.core.json_text import object_in
from observer.core.patterns import lazy_pattern
from observer.core.text import ENDS, WIDE_ENDS, block, one_line, word_set
from observer.core.value import Value
from observer.observations.prompt_injection import suspicion
from observer.observations.prompts import words_of

PROMPT_CHARS = 3_000
"""A longer prompt is a pasted document."""
LEAST_CHARS, MOST_CHARS = 15, 400
MOST = 2
"""Most decisions taken from one prompt."""

_BETWEEN = lazy_pattern(rf"(?<=[{ENDS}])\s+(?=\S)|(?<=[{WIDE_ENDS}])|\n+")
_FENCED = lazy_pattern(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = lazy_pattern(
    r"^[ \t]*>[^\n]*$"
    r"|^[^\n]{0,200}\b(?:says|said|wrote|writes|states|stated|reads|replied|commented|suggests"
    r"|suggested)\b[^\n:]{0,60}:[ \t]*\n+(?:[^\n]+(?:\n|\Z))+",
    re.MULTILINE,
)
"""Quotations: lines quoted as in mail, and the paragraph after `the guide says:`."""
_BULLET = lazy_pattern(r"^(?:[-*\u2022]|\d{1,2}[.)])\s+")
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
    lazy_pattern(_OPENING + form, re.IGNORECASE)
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
_DOCUMENT = lazy_pattern(
    r"\A\s*(?:/|implement the following plan)|^#{1,3} ", re.MULTILINE | re.IGNORECASE
)
"""A pasted plan or page, which the person did not write."""
_UNSURE = lazy_pattern(
    r"\b(?:maybe|perhaps|might|not sure|i think we could|could we|should we|shall we|what if"
    r"|how about"
    r"|do you think|wonder|or should|what do you|is it possible|can you explain|why)\b",
    re.IGNORECASE,
)
_AT_HAND = lazy_pattern(
    r"\b(?:this (?:one|time|branch|commit|pr|change|line|page|bug|error|message|button|file)"
    r"|here\b.*:$|above"
    r"|below|for now|just now|the (?:error|screenshot|log|output|failing|same (?:way"
    r"|thing)))\b|https?://",
    re.IGNORECASE,
)
"""Phrases about the present work, which do not hold later."""


def decisions(prompt: str) -> tuple[str, ...]:
    """Return the sentences of a prompt that decide something, in order; at most `MOST`.

    >>> decisions("Fix the cart. Let's use Decimal for prices because cents get lost.")
    ("Let's use Decimal for prices because cents get lost.",)
    """
    text = words_of(prompt)
    if is_document(text):
        return ()
    found = (one for one in sentences(text) if is_decision(one) and not suspicion(one))
    return tuple(islice(found, MOST))


def is_document(text: str) -> bool:
    """Return True if a prompt is more than a person's own words: long, or a pasted document."""
    return len(text) > PROMPT_CHARS or _DOCUMENT.search(text) is not None


def sentences(text: str) -> list[str]:
    """Return the sentences outside code and quotations, without list markers."""
    own = _QUOTED.sub("", _FENCED.sub("\n", text))
    parts = (_BULLET.sub("", part.strip()) for part in _BETWEEN.split(own))
    return [one_line(part, MOST_CHARS + 1) for part in parts if part]


def is_decision(sentence: str) -> bool:
    """Return True if a sentence decides or forbids something beyond the present work."""
    shown = sentence.replace("\u2019", "'")
    if not LEAST_CHARS <= len(shown) <= MOST_CHARS or shown.endswith(("?", ":")):
        return False
    if _UNSURE.search(shown) or _AT_HAND.search(shown):
        return False
    return any(form.match(shown) for form in _FORMS)


_TOOLS = word_set(
    """
    askuserquestion ask_user_question askquestion ask_question ask_user askuser request_user_input
    question user_input ask_followup_question ask_human ask_questions vscode_askquestions
    """
)
QUESTIONS = 4
OPTIONS = 8
_TEXT = 300
_QUOTED_ANSWER = lazy_pattern(r'"((?:[^"\\]|\\.){3,600})"\s*=\s*"((?:[^"\\]|\\.)*)"')
_ANSWERED = lazy_pattern(
    r"\A\s*(?:the )?user(?: has)? (?:responded|answered|selected|chose|said)[^:]{0,60}:\s*",
    re.IGNORECASE,
)
_YES_OR_NO = lazy_pattern(
    r"(?:(?:yes|no)(?=\s*[,.;!\u2014-]|\s*$)|ok(?:ay)?|sure|skip|cancel|abort|proceed"
    r"|continue|go ahead|stop|retry|try again"
    r"|looks? good|approve[d]?|reject(?:ed)?|correct|done|ready|not now|later)\b",
    re.IGNORECASE,
)
_PERMISSION = lazy_pattern(
    r"(?:can|may|shall|should|could) i\b|do you want (?:me )?to\b|would you like\b|ready to\b"
    r"|is (?:this|that|it) (?:ok|okay|correct|right)\b|proceed\b|continue\b",
    re.IGNORECASE,
)


class AnsweredQuestion(Value):
    """A question and its answer; `options` are pairs of label and description."""

    question: str
    chosen: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def rejected(self) -> tuple[tuple[str, str], ...]:
        """The options that were not chosen."""
        return tuple(option for option in self.options if option[0] not in self.chosen)

    @property
    def is_decision(self) -> bool:
        """Whether the person chose between ways to go on, as opposed to giving permission."""
        said = " ".join(self.chosen)
        if not said or said.endswith("?") or _YES_OR_NO.match(said):
            return False
        is_choice = any(label in self.chosen for label, _ in self.options)
        return is_choice or (len(said) > 12 and _PERMISSION.match(self.question) is None)


def answered_questions(use: ToolUse) -> tuple[AnsweredQuestion, ...]:
    """Return the questions of a tool call that were answered; none for other tools."""
    if use.tool.rpartition("__")[2].lower() not in _TOOLS or use.failed:
        return ()
    given, output = object_in(use.input), object_in(use.output)
    asked = [*_questions(given)][:QUESTIONS]
    return tuple(
        answer
        for each in asked
        if (answer := _answer(each, output, use.output, is_only=len(asked) == 1)).chosen
    )


def _questions(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = given.get("questions")
    for each in listed if isinstance(listed, list) else [given]:
        if isinstance(each, dict) and _text(each, "question", "prompt", "text", "message"):
            yield each


def _answer(
    asked: dict[str, Any], output: dict[str, Any], text: str, *, is_only: bool
) -> AnsweredQuestion:
    question = _text(asked, "question", "prompt", "text", "message")
    names = (question, *(_text(asked, name) for name in ("id", "header", "name")))
    found = _given(output.get("answers", output), names) or _quoted(text, question)
    if not found and is_only and not output:
        found = [_ANSWERED.sub("", text)]
    notes = _given(output.get("annotations", {}), names)
    chosen = dict.fromkeys(one_line(each, _TEXT) for each in (*found, *notes))
    return AnsweredQuestion(
        question=one_line(question, _TEXT),
        chosen=_distinct(tuple(each for each in chosen if each)),
        options=tuple(_options(asked))[:OPTIONS],
    )


def _distinct(chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the answers without those that repeat the first."""
    first = chosen[:1]
    return (*first, *(each for each in chosen[1:] if each.strip() not in "".join(first)))


def _given(answers: object, names: tuple[str, ...]) -> list[str]:
    """Return the answers under one of a question's names, from any of the known shapes."""
    if isinstance(answers, list):
        named = [each for each in answers if isinstance(each, dict)]
        keys = ("id", "question", "questionId", "header")
        return [
            said
            for each in named
            if any(each.get(key) in names for key in keys if each.get(key))
            for said in _texts(each)
        ]
    if not isinstance(answers, dict):
        return []
    return next((_texts(answers[name]) for name in names if name and name in answers), [])


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, dict):
        names = ("answers", "answer", "selected", "selectedOptions", "label", "notes", "freeText")
        return [text for name in names for text in _texts(value.get(name))]
    return []


def _quoted(text: str, question: str) -> list[str]:
    """Return the answer from a result in prose: `"question"="answer"`."""
    return [
        answer.replace('\\"', '"')
        for asked, answer in _QUOTED_ANSWER.findall(block(text, 20_000))
        if asked.replace('\\"', '"') == question
    ]


def _options(asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    listed = asked.get("options") or asked.get("choices") or ()
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, str):
            yield one_line(each, _TEXT), ""
        elif isinstance(each, dict) and (label := _text(each, "label", "title", "value", "id")):
            yield one_line(label, _TEXT), one_line(_text(each, "description"), _TEXT)


def _text(row: dict[str, Any], *names: str) -> str:
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
