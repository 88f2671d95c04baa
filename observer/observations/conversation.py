"""What a person decided: answers to questions, words on refusing a call, and approved plans.

Each gives a `decision`: what was said then. Only a note holds until somebody says otherwise. That
an option was chosen is a record, and a fact of its turn: mostly it is a step of a procedure.
Clients ask with tools of different shapes: `AskUserQuestion` (Claude Code), `ask_user` (Copilot),
`request_user_input` (Codex), `AskQuestion` (Cursor) and others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from observer.core.events import AnyBody, Command, FileWrite, ToolUse
from observer.core.json_text import object_in
from observer.core.model import Item, Link, Recorded, Slot, item_id, item_uuid
from observer.core.patterns import lazy_pattern
from observer.core.text import block, first_line, one_line, word_set
from observer.core.value import Value
from observer.observations import todos
from observer.observations.drafts import DECISION, FACT, TITLE, ObservationDraft, item
from observer.observations.prompt_injection import suspicion
from observer.observations.quoting import heading_of, names_its_subject, quoted
from observer.observations.session_state import SessionState
from observer.observations.turns import Turn

_SLOTS: tuple[Slot, ...] = ("observation", "arc", "extra", "summary")
"""Slots for the items of one event."""
CHOSEN, ANSWERED = "chosen by the person", "answered in the person's own words"
"""Subtitles of an answer to a question."""
CHOSEN_MARK = "chosen: "
"""Beginning of the fact that an option was chosen."""
_PLAN_CHARS = 1500
_REFUSED = "The user doesn't want to proceed with this tool use"
_ON_REFUSING = re.compile(r"the user said:\s*(\S.*?)(?:\n\nNote: |\Z)", re.DOTALL)


def is_refused(body: AnyBody) -> bool:
    """Return True if a person refused a tool call."""
    return _REFUSED in _error_of(body)[:200]


def said_on_refusing(recorded: Recorded) -> tuple[Item, ...]:
    """Return what a person said on refusing a tool call, as the answer that it is."""
    body = recorded.event.body
    is_question = isinstance(body, ToolUse) and _asks(body)  # what is said there is the client's
    found = None if is_question else _ON_REFUSING.search(_error_of(body))
    said = found[1].strip().strip('"') if found else ""
    if not said or suspicion(said):
        return ()
    calls = (getattr(body, name, "") for name in ("command", "path", "tool"))
    title = one_line("".join(calls), TITLE)
    return (_decision(recorded, title, f"{title}: {one_line(said, _TEXT)}", slot="extra"),)


def _error_of(body: AnyBody) -> str:
    text = body.error if isinstance(body, FileWrite) else ""
    if isinstance(body, Command | ToolUse) and body.failed:
        text = body.output
    return text.replace("\u2019", "'")


def answered_questions(before: SessionState, recorded: Recorded, body: ToolUse) -> tuple[Item, ...]:
    """Return a decision for each answer of a person to an agent's questions; none for others."""
    # The summary has the last slot of the event that a session begins with.
    slots = [*_SLOTS[: 3 if recorded.seq == recorded.session_id else 4]]
    items = []
    for answer in answers_in(body):
        chosen = "; ".join(answer.chosen).removesuffix(" (Recommended)")
        left = ", ".join(label for label, _ in answer.options if label not in answer.chosen)
        beside = f"\nNot chosen: {left}." if left else ""
        said = f"{answer.question} {chosen}.{beside}"
        if suspicion(said) or not slots:
            continue
        # Instead of one of several options, in words that say something.
        labels = dict(answer.options)
        own = " ".join(one for one in answer.chosen if one not in labels)
        how = ANSWERED if len(labels) > 1 and names_its_subject(own) else CHOSEN
        made = _decision(
            recorded, answer.question, said, slot=slots.pop(0), subtitle=how, in_turn=before.turn
        )
        options = (
            (f"{CHOSEN_MARK if label in answer.chosen else f'not {CHOSEN_MARK}'}{label}", why)
            for label, why in answer.options
        )
        facts = tuple(one_line(": ".join(filter(None, each)), FACT) for each in options)
        items.append(replace(made, facts=facts))
    return tuple(items)


def answer_of(made: Item) -> str:
    """Return a question and its answer, of the item of one, as one statement."""
    return made.narrative.partition("\n")[0]


def says_something(made: Item) -> bool:
    """Return False for an answer, by its item, that is a number of a list or a passcode."""
    return any(map(str.isalpha, answer_of(made).removeprefix(made.title)))


def approved_plan(before: SessionState, recorded: Recorded, body: ToolUse) -> tuple[Item, ...]:
    """Return a decision for a plan that was presented to the person and not refused."""
    plan = todos.plan_in(body)
    if not plan or body.failed or suspicion(plan):
        return ()
    title = f"Plan: {heading_of(plan) or first_line(plan, TITLE)}"
    said, how = quoted(plan, _PLAN_CHARS), "a plan, approved"
    return (_decision(recorded, title, said, subtitle=how, in_turn=before.turn),)


def _decision(
    recorded: Recorded,
    title: str,
    said: str,
    *,
    slot: Slot = "observation",
    subtitle: str = ANSWERED,
    in_turn: Turn | None = None,
) -> Item:
    draft = ObservationDraft(
        type=DECISION,
        title=one_line(title, TITLE),
        subtitle=subtitle,
        narrative=said,
        chars=len(said),
    )
    event, made = recorded.event, item(draft, recorded)
    return replace(
        made,
        id=item_id(recorded.seq, slot),
        uuid=item_uuid(one_line(event.id, 200), event.at_ms, slot),
        kind="record" if subtitle == CHOSEN else made.kind,
        author="person",
        links=(Link(kind="answers", target=item_id(in_turn.origin.seq)),) if in_turn else (),
    )


_TOOLS = word_set(
    """
    askuserquestion ask_user_question askquestion ask_question ask_user askuser request_user_input
    question user_input ask_followup_question ask_human ask_questions vscode_askquestions
    """
)
_QUESTION = ("question", "prompt", "text", "message")
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


def answers_in(use: ToolUse) -> tuple[AnsweredQuestion, ...]:
    """Return the questions of a tool call that were answered; none for other tools."""
    if use.failed or not _asks(use):
        return ()
    given, output = object_in(use.input), object_in(use.output)
    listed = given.get("questions")
    asked = [
        each
        for each in (listed if isinstance(listed, list) else [given])
        if isinstance(each, dict) and _text(each, *_QUESTION)
    ][:QUESTIONS]
    answers = [_answer(each, output, use.output, is_only=len(asked) == 1) for each in asked]
    return tuple(answer for answer in answers if answer.chosen)


def _asks(use: ToolUse) -> bool:
    return use.tool.rpartition("__")[2].lower() in _TOOLS


def _answer(
    asked: dict[str, Any], output: dict[str, Any], text: str, *, is_only: bool
) -> AnsweredQuestion:
    question = _text(asked, *_QUESTION)
    names = (question, *(_text(asked, name) for name in ("id", "header", "name")))
    # A result in prose has `"question"="answer"`.
    quoted_answers = (
        answer.replace('\\"', '"')
        for quoted_question, answer in _QUOTED_ANSWER.findall(block(text, 20_000))
        if quoted_question.replace('\\"', '"') == question
    )
    found = _given(output.get("answers", output), names) or [*quoted_answers]
    if not found and is_only and not output and text.strip()[:1] not in ("{", "["):
        found = [_ANSWERED.sub("", text)]
    notes = _given(output.get("annotations", {}), names)
    first, *more = [*filter(None, (one_line(each, _TEXT) for each in (*found, *notes)))] or [""]
    chosen = [first, *(each for each in dict.fromkeys(more) if each not in first)]
    options = tuple(_options(asked))[:OPTIONS]
    return AnsweredQuestion(
        question=one_line(question, _TEXT),
        chosen=tuple(one for text in chosen if text for one in _labels(text, dict(options))),
        options=options,
    )


def _labels(text: str, labels: Collection[str]) -> list[str]:
    """Return the options that a client joined into one answer; any other text as it is."""
    found, rest = [], text
    while rest:
        fitting = (one for one in labels if rest == one or rest.startswith(f"{one}, "))
        if not (label := max(fitting, key=len, default="")):
            return [text]
        found.append(label)
        rest = rest[len(label) :].removeprefix(", ")
    return found


def _given(answers: object, names: tuple[str, ...]) -> list[str]:
    """Return the answers under one of a question's names, from any of the known shapes."""
    if isinstance(answers, list):
        keys = ("id", "question", "questionId", "header")
        rows = (each for each in answers if isinstance(each, dict))
        ours = (
            each for each in rows if any(each.get(key) in names for key in keys if each.get(key))
        )
        return [said for each in ours for said in _texts(each)]
    if not isinstance(answers, dict):
        return []
    return next((_texts(answers[name]) for name in names if name and name in answers), [])


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    rows = value if isinstance(value, list) else []
    if isinstance(value, dict):
        names = ("answers", "answer", "selected", "selectedOptions", "label", "notes", "freeText")
        rows = [value.get(name) for name in names]
    return [text for each in rows for text in _texts(each)]


def _options(asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    listed = asked.get("options") or asked.get("choices")
    for each in listed if isinstance(listed, list) else ():
        row = {"label": each} if isinstance(each, str) else each
        if isinstance(row, dict) and (label := _text(row, "label", "title", "value", "id")):
            yield one_line(label, _TEXT), one_line(_text(row, "description"), _TEXT)


def _text(row: dict[str, Any], *names: str) -> str:
    texts = (row.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
