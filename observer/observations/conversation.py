"""The items of a conversation: findings of replies, and decisions of a person.

A reply gives items of type `finding`, each linked to the prompt that it answers. A person's words
in a prompt, in an answer to a question, or on refusing a tool call give a `decision` with the
status `candidate`: it is proposed, not in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from observer.core.events import AnyBody, Command, FileWrite, Prompt, Reply, ToolUse
from observer.core.model import Item, Link, Recorded, Slot, item_id, item_uuid
from observer.core.text import distinct, one_line, relative
from observer.observations import concepts, decisions, prompts
from observer.observations.decisions import AnsweredQuestion
from observer.observations.drafts import (
    DECISION,
    FACT,
    FINDING,
    PATHS,
    PROPOSED,
    SUBTITLE,
    TITLE,
    ObservationDraft,
    item,
)
from observer.observations.findings import FindingPassage, findings
from observer.observations.memory_use import only_asks
from observer.observations.prompt_injection import suspicion
from observer.observations.session_state import AnsweredPrompt, SessionState

_SAID_BEFORE = 12
_SAID_CHARS = 240
_ASKED_CHARS = 600
_SLOTS: tuple[Slot, ...] = ("observation", "arc", "extra")
_BESIDE: tuple[Slot, ...] = _SLOTS[1:]
"""Slots for the items of one event, and those left if it has an observation of its own."""

_PATH = re.compile(r"(?<![\w/.:-])(?:[\w.@-]+/)*[\w.@-]+\.[A-Za-z]\w{0,8}(?![\w/(])")
_FIRST_SENTENCE = re.compile(r".{20,}?[.!?\u3002](?=\s|$)|.+", re.DOTALL)
_REFUSED = "The user doesn't want to proceed with this tool use"
_ON_REFUSING = re.compile(r"the user said:\s*(\S.*?)(?:\n\nNote: |\Z)", re.DOTALL)
_CORRECTION = re.compile(
    r"(?:no[,.!]? |please |you (?:must|should) )*(?:don't|do not|never|always|use|stop|instead|only"
    r"|prefer|let's|we |keep|avoid|not )\b",
    re.IGNORECASE,
)


def with_prompt(before: SessionState, body: Prompt, made: Sequence[Item]) -> SessionState:
    """Return the state with the prompt that the next replies answer."""
    ask = prompts.ask_of(body.text)
    if ask is None or not made:
        return before
    title = ask.title or made[0].title
    with_prompt = one_line(body.text, _ASKED_CHARS)
    answering = replace(before.answering, item=made[0].id, title=title, asked=with_prompt)
    answering = replace(answering, is_question=only_asks(body.text))
    return replace(before, answering=answering)


def proposed_decisions(recorded: Recorded, body: Prompt) -> tuple[Item, ...]:
    """Return the decisions in a person's prompt."""
    if recorded.event.author != "person":
        return ()
    return tuple(
        _decision(recorded, said, slot, subtitle="said in a prompt", evidence=item_id(recorded.seq))
        for slot, said in zip(_BESIDE, decisions.decisions(body.text), strict=False)
    )


def refusal_decisions(recorded: Recorded) -> tuple[Item, ...]:
    """Return what a person said on refusing a tool call, if that is a decision or a correction."""
    with_findings = _ON_REFUSING.search(_error_of(recorded.event.body))
    said = with_findings[1].strip().strip('"') if with_findings else ""
    first = next(iter(decisions.sentences(said)), "")
    is_said = decisions.is_decision(first) or (
        _CORRECTION.match(first) and len(first) >= decisions.LEAST_CHARS and first[-1] != "?"
    )
    if not is_said or suspicion(said):
        return ()
    decision = one_line(said, decisions.MOST_CHARS)
    return (_decision(recorded, decision, "extra", subtitle="said on refusing a tool"),)


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
    """Return the items of a person's answers to an agent's questions; none for other tools."""
    answers = decisions.answered_questions(body)
    decided = [each for each in answers if each.is_decision and not suspicion(_chosen(each))]
    # The summary has the last slot of the event that a session begins with.
    slots = _SLOTS if recorded.seq == recorded.session_id else (*_SLOTS, "summary")
    chosen = [
        replace(
            _decision(recorded, _chosen(each), slot, subtitle="chosen by the person"),
            title=one_line(each.question, TITLE),
            facts=_options_text(each),
            links=_answers(before.answering),
        )
        for slot, each in zip(slots, decided, strict=False)
    ]
    if chosen or not answers:
        return tuple(chosen)
    said = " ".join(map(_chosen, answers))
    draft = ObservationDraft(
        type="tool-use",
        title=one_line(answers[0].question, TITLE),
        subtitle="asked the person",
        narrative=said,
        concepts=concepts.of_text(said, 6),
        chars=len(said),
    )
    return (item(draft, recorded),)


def _chosen(answer: AnsweredQuestion) -> str:
    """Return a question and its answer as one statement, then the options not chosen."""
    chosen = "; ".join(answer.chosen).removesuffix(" (Recommended)")
    labels = ", ".join(label for label, _ in answer.rejected)
    beside = f"\nNot chosen: {labels}." if labels else ""
    return f"{answer.question} {chosen}.{beside}"


def _options_text(answer: AnsweredQuestion) -> tuple[str, ...]:
    options = (
        (f"{'chosen' if label in answer.chosen else 'not chosen'}: {label}", description)
        for label, description in answer.options
    )
    return tuple(one_line(": ".join(filter(None, each)), FACT) for each in options)


def with_findings(
    before: SessionState, recorded: Recorded, body: Reply
) -> tuple[SessionState, tuple[Item, ...]]:
    """Return the state and the findings of a reply, linked to the prompt that it answers."""
    answering = before.answering
    if answering.is_question:  # the reply repeats items that exist already
        return before, ()
    passages = findings(body.text, prompt=answering.asked, known=answering.findings)[: len(_SLOTS)]
    if not passages:
        return before, ()
    said = (*answering.findings, *(one_line(each.text, _SAID_CHARS) for each in passages))
    after = replace(before, answering=replace(answering, findings=said[-_SAID_BEFORE:]))
    made = (
        _finding(before, recorded, each, slot) for each, slot in zip(passages, _SLOTS, strict=False)
    )
    return after, tuple(made)


def _finding(before: SessionState, recorded: Recorded, passage: FindingPassage, slot: Slot) -> Item:
    answering = before.answering
    if recorded.root:
        passage = replace(passage, text=passage.text.replace(f"{recorded.root}/", ""))
    first = _FIRST_SENTENCE.match(passage.text)
    heading = f"{passage.heading}: " if passage.heading else ""
    draft = ObservationDraft(
        type=FINDING,
        title=one_line(heading + (first[0] if first else passage.text), TITLE),
        subtitle=one_line(f"asked: {answering.title}", SUBTITLE) if answering.title else "",
        narrative=heading + passage.text,
        concepts=concepts.of_text(f"{passage.heading} {passage.text}", 8),
        files_read=_files(passage.text, before, recorded),
        chars=len(passage.text),
    )
    return replace(_in_slot(item(draft, recorded), recorded, slot), links=_answers(answering))


def _answers(answering: AnsweredPrompt) -> tuple[Link, ...]:
    return (Link(kind="answers", target=answering.item),) if answering.item else ()


def _decision(
    recorded: Recorded, said: str, slot: Slot, *, subtitle: str, evidence: int = 0
) -> Item:
    draft = ObservationDraft(
        type=DECISION,
        title=one_line(said, TITLE),
        subtitle=subtitle,
        narrative=said,
        concepts=concepts.of_text(said, 8),
        chars=len(said),
    )
    links = (Link(kind="evidence", target=evidence),) if evidence else ()
    made = replace(_in_slot(item(draft, recorded), recorded, slot), status=PROPOSED, links=links)
    return replace(made, author="person")


def _in_slot(made: Item, recorded: Recorded, slot: Slot) -> Item:
    """Return an item in its own slot among those of its event."""
    event = recorded.event
    uuid = item_uuid(one_line(event.id, 200), event.at_ms, slot)
    return replace(made, id=item_id(recorded.seq, slot), uuid=uuid)


def _files(text: str, before: SessionState, recorded: Recorded) -> tuple[str, ...]:
    """Return the files that a text names: files of the session, and paths with a folder."""
    return distinct(_named(_PATH.findall(text), before, recorded), PATHS)


def _named(names: Iterable[str], before: SessionState, recorded: Recorded) -> Iterable[str]:
    for name in names:
        bare = name.removeprefix("./")
        known = [path for path in before.files if f"/{path}".endswith(f"/{bare}")]
        if len(known) == 1:
            yield known[0]
        elif "/" in bare:
            yield relative(name, recorded.root, recorded.root)
