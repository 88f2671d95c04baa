"""What a person decided: answers to questions, approved plans, and words on refusing a call.

Each gives a `decision`: what was said then. Only a note holds until somebody says otherwise.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.events import AnyBody, Command, FileWrite, ToolUse
from observer.core.model import Item, Link, Recorded, Slot, item_id, item_uuid
from observer.core.text import first_line, one_line
from observer.observations import decisions, todos
from observer.observations.decisions import AnsweredQuestion
from observer.observations.drafts import (
    DECISION,
    FACT,
    TITLE,
    ObservationDraft,
    content_hash,
    item,
)
from observer.observations.prompt_injection import suspicion
from observer.observations.prompts import heading_of, names_its_subject
from observer.observations.quoting import quoted
from observer.observations.session_state import SessionState

_SLOTS: tuple[Slot, ...] = ("observation", "arc", "extra")
"""Slots for the items of one event."""
CHOSEN, ANSWERED = "chosen by the person", "answered in the person's own words"
"""Subtitles of an answer to a question."""
_NUMBER = re.compile(r"\d+")
_SAID_CHARS = 400
_LEAST_CHARS = 15
_PLAN_CHARS = 1500
_REFUSED = "The user doesn't want to proceed with this tool use"
_ON_REFUSING = re.compile(r"the user said:\s*(\S.*?)(?:\n\nNote: |\Z)", re.DOTALL)


def refusal_decisions(recorded: Recorded) -> tuple[Item, ...]:
    """Return what a person said on refusing a tool call."""
    found = _ON_REFUSING.search(_error_of(recorded.event.body))
    said = found[1].strip().strip('"') if found else ""
    if len(said) < _LEAST_CHARS or suspicion(said):
        return ()
    made = one_line(said, _SAID_CHARS)
    return (_decision(recorded, made, "extra", subtitle="said on refusing a tool"),)


def is_refused(body: AnyBody) -> bool:
    """Return True if a person refused a tool call."""
    return _REFUSED in _error_of(body)[:200]


def _error_of(body: AnyBody) -> str:
    match body:
        case Command() | ToolUse():
            text = body.output if body.failed else ""
        case FileWrite():
            text = body.error
        case _:
            text = ""
    return text.replace("\u2019", "'")


def answered_questions(before: SessionState, recorded: Recorded, body: ToolUse) -> tuple[Item, ...]:
    """Return a decision for each answer of a person to an agent's questions; none for others."""
    answers = decisions.answered_questions(body)
    decided = [each for each in answers if not suspicion(_chosen(each))]
    # The summary has the last slot of the event that a session begins with.
    slots = _SLOTS if recorded.seq == recorded.session_id else (*_SLOTS, "summary")
    return tuple(
        replace(
            _decision(recorded, _chosen(each), slot, subtitle=_how(each)),
            # A number of a list, or a passcode, says nothing later.
            kind="observation" if any(map(str.isalpha, "".join(each.chosen))) else "record",
            title=one_line(each.question, TITLE),
            facts=_options_text(each),
            links=_answers(before),
        )
        for slot, each in zip(slots, decided, strict=False)
    )


def answer_of(made: Item) -> str:
    """Return a question and its answer, of the item of one, as one statement."""
    return made.narrative.partition("\n")[0]


def topics_of(made: Item) -> tuple[str, ...]:
    """Return what a question is known by, asked again: words without numbers, or its options."""
    options = " ".join(sorted(one.partition(": ")[2].partition(": ")[0] for one in made.facts))
    said = (_NUMBER.sub("#", made.title), options if names_its_subject(options) else "")
    return tuple(content_hash(one)[:12] for one in said if one)


def approved_plan(before: SessionState, recorded: Recorded, body: ToolUse) -> tuple[Item, ...]:
    """Return a decision for a plan that was presented to the person and not refused."""
    plan = todos.plan_in(body)
    if not plan or body.failed or suspicion(plan):
        return ()
    made = _decision(
        recorded, quoted(plan, _PLAN_CHARS), "observation", subtitle="a plan, approved"
    )
    heading = heading_of(plan) or first_line(plan, TITLE)
    return (replace(made, title=one_line(f"Plan: {heading}", TITLE), links=_answers(before)),)


def _chosen(answer: AnsweredQuestion) -> str:
    """Return a question and its answer as one statement, then the options not chosen."""
    chosen = "; ".join(answer.chosen).removesuffix(" (Recommended)")
    labels = ", ".join(label for label, _ in answer.rejected)
    beside = f"\nNot chosen: {labels}." if labels else ""
    return f"{answer.question} {chosen}.{beside}"


def _how(answer: AnsweredQuestion) -> str:
    """Return how a question was answered: in words that no option has, and that say something."""
    labels = {label for label, _ in answer.options}
    own = [one for one in answer.chosen if one not in labels]
    return ANSWERED if names_its_subject(" ".join(own)) else CHOSEN


def _options_text(answer: AnsweredQuestion) -> tuple[str, ...]:
    options = (
        (f"{'chosen' if label in answer.chosen else 'not chosen'}: {label}", description)
        for label, description in answer.options
    )
    return tuple(one_line(": ".join(filter(None, each)), FACT) for each in options)


def _answers(before: SessionState) -> tuple[Link, ...]:
    return (Link(kind="answers", target=item_id(before.turn.origin.seq)),) if before.turn else ()


def _decision(recorded: Recorded, said: str, slot: Slot, *, subtitle: str) -> Item:
    draft = ObservationDraft(
        type=DECISION,
        title=one_line(said, TITLE),
        subtitle=subtitle,
        narrative=said,
        chars=len(said),
    )
    return replace(_in_slot(item(draft, recorded), recorded, slot), author="person")


def _in_slot(made: Item, recorded: Recorded, slot: Slot) -> Item:
    """Return an item in its own slot among those of its event."""
    event = recorded.event
    uuid = item_uuid(one_line(event.id, 200), event.at_ms, slot)
    return replace(made, id=item_id(recorded.seq, slot), uuid=uuid)
