"""What an agent should be told unasked: that an error is known, that a thing was decided.

A read of its own, at the two moments when it is worth an interruption: a command has failed, a
prompt was just written. Whoever reads it did not ask, so it says nothing rather than something
weak.
"""

from __future__ import annotations

from collections.abc import Iterable

from observer.events import Command, Event, Prompt, Value
from observer.filters import Filters
from observer.interpret.commandline import read as command_line
from observer.interpret.gist import gist
from observer.interpret.outcome import read as outcome
from observer.interpret.told import Where
from observer.model import KNOWLEDGE_TYPES, Item
from observer.recall.candidates import Sources
from observer.recall.rank import Hit, is_knowledge
from observer.recall.search import search
from observer.recall.unasked import clean
from observer.store.interface import Reader

SEEN = 50
"""Newest items of one error that are looked at."""
SHOWN = 2
"""Most fixes, rejected attempts or notes of one reminder."""
OFTEN = 2
"""Times that an error was met before, from which that alone is worth a word."""
PROMPT_CHARS = 2_000
"""As much of a prompt as is compared with what was decided."""

STRONG_MEANING = 0.55
STRONG_TERMS = 3
"""A note is told if it means nearly the same, and shares so many words, or a name, with a prompt.

Source: with 150 commit messages of a development set in place of decisions, and subjects in place
of prompts, 44 % of those that one is about are told of it, and 3 % of the others of something.
"""


class Reminder(Value):
    """What is known already; see `is_strong` before telling it.

    `times` counts how often the error of this `signature` was met in other sessions, the `last`
    time as told by that item. `notes` are decisions and the like that a prompt touches.
    """

    signature: str = ""
    times: int = 0
    last: Item | None = None
    fixes: tuple[Item, ...] = ()
    rejected: tuple[Item, ...] = ()
    notes: tuple[Item, ...] = ()

    @property
    def is_strong(self) -> bool:
        """Whether it is worth an interruption."""
        return bool(self.fixes or self.rejected or self.notes) or self.times >= OFTEN


def known_error(reader: Reader, event: Event, here: Filters, *, session_id: int | None) -> Reminder:
    """Return what is known about the error that an event tells of; mostly nothing.

    Args:
        reader: where to look.
        event: a failed command, or a prompt; anything else reminds of nothing.
        here: the project that it happened in; nothing of another is told.
        session_id: the session that it belongs to, whose own failures are no news to it.
    """
    signature = clean(error_of(event))
    if not signature:
        return Reminder()
    known = reader.with_signature(signature, here, limit=SEEN)
    met = [each for each in known if not each.suspicion]
    before = [each for each in met if each.type == "command" and each.session_id != session_id]
    return Reminder(
        signature=signature,
        times=sum(each.folded for each in before),
        last=next(iter(before), None),
        fixes=_of_type(met, "fix"),
        rejected=_of_type(met, "rejected"),
    )


def decided(sources: Sources, prompt: str, here: Filters, *, now_ms: int) -> Reminder:
    """Return what was decided in a project about what a prompt asks for; mostly nothing."""
    about = Filters(
        project_id=here.project_id,
        owner=here.owner,
        types=tuple(sorted(KNOWLEDGE_TYPES)),
        trusted_at_ms=now_ms,
        since_ms=0,  # the time words of a prompt say when to do something, not when it was decided
    )
    hits = search(sources, prompt[:PROMPT_CHARS], about, limit=SHOWN, now_ms=now_ms).hits
    return Reminder(
        notes=tuple(hit.item for hit in hits if _is_strong(hit) and is_knowledge(hit.item))
    )


def error_of(event: Event) -> str:
    """Return the signature of the error that an event tells of, or of one quoted in a prompt."""
    body = event.body
    if isinstance(body, Command):
        verdict = gist(body, Where(cwd=event.cwd)).verdict
    elif isinstance(body, Prompt):
        verdict = outcome(Command(command="", output=body.text, failed=True), command_line(""))
    else:
        return ""
    return verdict.signature if verdict.ok is False else ""


def _of_type(items: Iterable[Item], type_: str) -> tuple[Item, ...]:
    return tuple(each for each in items if each.type == type_)[:SHOWN]


def _is_strong(hit: Hit) -> bool:
    signals = hit.signals
    shares = len(signals.terms) >= STRONG_TERMS or signals.exact > 0
    return shares and signals.semantic >= STRONG_MEANING and hit.item.status == "active"
