"""What a person answered to the questions that an agent asked.

Clients ask with tools of different shapes: `AskUserQuestion` (Claude Code), `ask_user` (Copilot),
`request_user_input` (Codex), `AskQuestion` (Cursor) and others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from observer.core.events import ToolUse
from observer.core.json_text import object_in
from observer.core.patterns import lazy_pattern
from observer.core.text import block, one_line, word_set
from observer.core.value import Value

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


class AnsweredQuestion(Value):
    """A question and its answer; `options` are pairs of label and description."""

    question: str
    chosen: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def rejected(self) -> tuple[tuple[str, str], ...]:
        """The options that were not chosen."""
        return tuple(option for option in self.options if option[0] not in self.chosen)


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
    if not found and is_only and not output and text.strip()[:1] not in ("{", "["):
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
    rows = [
        {"label": each} if isinstance(each, str) else each
        for each in (listed if isinstance(listed, list) else ())
    ]
    yield from (
        (one_line(label, _TEXT), one_line(_text(each, "description"), _TEXT))
        for each in rows
        if isinstance(each, dict) and (label := _text(each, "label", "title", "value", "id"))
    )


def _text(row: dict[str, Any], *names: str) -> str:
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
