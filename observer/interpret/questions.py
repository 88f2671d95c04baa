"""What a person was asked by a tool of the client, and what was chosen.

Part of interpretation (step 6), pure. Clients spell questions, options and answers differently:
`AskUserQuestion` (Claude Code), `ask_user` (Copilot), `request_user_input` (Codex),
`AskQuestion` (Cursor) and the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from observer.events import ToolUse, Value
from observer.interpret.wording import block, one_line, word_set

_TOOLS = word_set(
    """
    askuserquestion ask_user_question askquestion ask_question ask_user askuser request_user_input
    question user_input ask_followup_question ask_human ask_questions vscode_askquestions
    """
)
_DECODER = msgspec.json.Decoder(dict[str, Any])  # a tool's input may be anything
QUESTIONS = 4
OPTIONS = 8
_TEXT = 300
_QUOTED = re.compile(r'"((?:[^"\\]|\\.){3,600})"\s*=\s*"((?:[^"\\]|\\.)*)"')
_ANSWERED = re.compile(
    r"\A\s*(?:the )?user(?: has)? (?:responded|answered|selected|chose|said)[^:]{0,60}:\s*",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"(?:(?:yes|no)(?=\s*[,.;!\u2014-]|\s*$)|ok(?:ay)?|sure|skip|cancel|abort|proceed"
    r"|continue|go ahead|stop|retry|try again"
    r"|looks? good|approve[d]?|reject(?:ed)?|correct|done|ready|not now|later)\b",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"(?:can|may|shall|should|could) i\b|do you want (?:me )?to\b|would you like\b|ready to\b"
    r"|is (?:this|that|it) (?:ok|okay|correct|right)\b|proceed\b|continue\b",
    re.IGNORECASE,
)


class Answer(Value):
    """A question with what was answered; `options` are (label, description) as offered."""

    question: str
    chosen: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def rejected(self) -> tuple[tuple[str, str], ...]:
        """What was offered and not chosen."""
        return tuple(option for option in self.options if option[0] not in self.chosen)

    @property
    def is_decision(self) -> bool:
        """Whether one of several ways was chosen, and not just leave given."""
        said = " ".join(self.chosen)
        if not said or said.endswith("?") or _YES_OR_NO.match(said):
            return False
        is_choice = any(label in self.chosen for label, _ in self.options)
        return is_choice or (len(said) > 12 and _PERMISSION.match(self.question) is None)


def read(use: ToolUse) -> tuple[Answer, ...]:
    """Return what a person answered; nothing for other tools, and where nobody answered."""
    if use.tool.rpartition("__")[2].lower() not in _TOOLS or use.failed:
        return ()
    given, output = _object(use.input), _object(use.output)
    asked = [*_questions(given)][:QUESTIONS]
    return tuple(
        answer
        for each in asked
        if (answer := _answer(each, output, use.output, is_only=len(asked) == 1)).chosen
    )


def _object(text: str) -> dict[str, Any]:
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return {}


def _questions(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = given.get("questions")
    for each in listed if isinstance(listed, list) else [given]:
        if isinstance(each, dict) and _said(each, "question", "prompt", "text", "message"):
            yield each


def _answer(asked: dict[str, Any], output: dict[str, Any], text: str, *, is_only: bool) -> Answer:
    question = _said(asked, "question", "prompt", "text", "message")
    names = (question, *(_said(asked, name) for name in ("id", "header", "name")))
    found = _given(output.get("answers", output), names) or _quoted(text, question)
    if not found and is_only and not output:
        found = [_ANSWERED.sub("", text)]
    notes = _given(output.get("annotations", {}), names)
    chosen = dict.fromkeys(one_line(each, _TEXT) for each in (*found, *notes))
    return Answer(
        question=one_line(question, _TEXT),
        chosen=_distinct(tuple(each for each in chosen if each)),
        options=tuple(_options(asked))[:OPTIONS],
    )


def _distinct(chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out what only repeats the words before it."""
    first = chosen[:1]
    return (*first, *(each for each in chosen[1:] if each.strip() not in "".join(first)))


def _given(answers: object, names: tuple[str, ...]) -> list[str]:
    """Return the answers under one of a question's names, in whatever shape."""
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
    """Return the answer that a result in prose gives: `"question"="answer"`."""
    return [
        answer.replace('\\"', '"')
        for asked, answer in _QUOTED.findall(block(text, 20_000))
        if asked.replace('\\"', '"') == question
    ]


def _options(asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    listed = asked.get("options") or asked.get("choices") or ()
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, str):
            yield one_line(each, _TEXT), ""
        elif isinstance(each, dict) and (label := _said(each, "label", "title", "value", "id")):
            yield one_line(label, _TEXT), one_line(_said(each, "description"), _TEXT)


def _said(row: dict[str, Any], *names: str) -> str:
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
