"""Reminders: what an agent should see unasked at the moment of an action; mostly nothing.

Three moments: a command or edit is about to be made (`before`), a result reads as failed (`after`),
a prompt was just written (`decided`); `reminders` yields those of one event in the order of their
urgency. The reader did not ask, so silence is better than something weak: not that an error was met
before, but what to do instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Literal

from observer.core.events import Command, Event, FileWrite, Prompt
from observer.core.filters import Filters
from observer.core.model import KNOWLEDGE_TYPES, Item
from observer.core.value import Value
from observer.observations import project_state
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from observer.observations.project_state import ProjectState
from observer.outcomes import not_started
from observer.search import known_fixes
from observer.search.candidates import Sources
from observer.search.dropped import dropped
from observer.search.eligible import is_harmless
from observer.search.find import search
from observer.search.rank import Hit
from observer.store.interface import Store, StoreReader

LOOKED_AT = 5
"""Rules that match a prompt best, of which one is shown."""
PROMPT_CHARS = 2_000
"""As much of a prompt as is compared with what was decided."""
STRONG_MEANING = 0.45
"""A rule that names what a prompt names is shown if it means nearly the same, too.

Source: with 150 subjects of commits of each of three repositories in place of rules, 14 of 56
prompts that name a symbol of one are shown it; at 0.55 it is 5, and 0 of 3,544 others at either.
"""
_NAME = re.compile(
    r"(?<=`)[\w./-]{2,}(?=(?:\(\))?`)|[\w./-]*(?:\w[_./]\w|[a-z\d][A-Z])[\w./-]*\w", re.ASCII
)
"""What is spelled as symbols and files are, or stands between backticks."""


class Reminder(Value):
    """One reminder; nothing to show where `instead` is empty.

    `instead` is what to do: the form of a command that works where `failed` does not (`form`), the
    command that fixes a failure of `failed` (`remedy`); or what is known: how an edit of `failed`
    went (`returned`), what a person decided (`rule`), what a compaction left out, a line each
    (`dropped`). `why` and `times` say how sure that is, and
    `item` has the whole.
    """

    sort: Literal["form", "remedy", "returned", "rule", "dropped"] = "form"
    instead: str = ""
    failed: str = ""
    why: str = ""
    times: int = 0
    item: int = 0

    @property
    def about(self) -> str:
        """Key of the reminder: a session is shown it once."""
        item = str(self.item)
        causes = {"form": self.why or self.failed, "remedy": self.instead}
        causes |= {"rule": item, "dropped": item}
        return f"{self.sort} {causes.get(self.sort, f'{self.failed} {self.instead}')}"


NOTHING = Reminder()


def harmless(known: Reminder) -> Reminder:
    """Return a reminder, or nothing where it reads like an order to a model."""
    return known if is_harmless(known.instead, known.failed, known.why) else NOTHING


def reminders(
    store: Store,
    sources: Callable[[], AbstractContextManager[Sources]],
    event: Event,
    here: Filters,
    *,
    now_ms: int,
    is_coming: bool,
) -> Iterator[Reminder]:
    """Yield reminders for an event that is about to happen, or has just happened.

    The first that the session has not been shown is meant; one may say nothing.
    """
    with store.read() as reader:
        yield _dropped(reader, event, here)
        if not isinstance(event.body, Prompt):
            yield harmless((before if is_coming else after)(reader, event, here))
            return
    with sources() as found:
        yield harmless(decided(found, event.body.text, here, now_ms=now_ms))


def _dropped(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    found = dropped(reader, event, here)
    return Reminder(sort="dropped", item=found[0], instead=found[1]) if found else NOTHING


def _session_id(reader: StoreReader, event: Event, here: Filters) -> int | None:
    return reader.runs(event.client, event.session).get(here.project_id or 0)


def before(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    """Return what is known of a command or edit that is about to be made, in its project."""
    known, root = _known(reader, event, here)
    if isinstance(event.body, Command):
        return _form(known, event.body.command, root, event.cwd)
    if isinstance(event.body, FileWrite):
        where, session_id = Where(root=root, cwd=event.cwd), _session_id(reader, event, here)
        found = known_fixes.find_reverted_edit(known, event.body, where, session_id)
        if found:
            return Reminder(
                sort="returned", instead=found.how, failed=found.edit.path, item=found.edit.item
            )
    return NOTHING


def after(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    """Return what to do about a command that has failed, by its output if by nothing else."""
    if not isinstance(event.body, Command):
        return NOTHING
    known, root = _known(reader, event, here)
    result = analyze(event.body, Where(root=root, cwd=event.cwd)).result
    if result.ok is not False or not result.was_run:
        return NOTHING
    if not_started.start_failure(event.body.output).reason:
        return _form(known, event.body.command, root, event.cwd)
    session_id = _session_id(reader, event, here)
    found = known_fixes.find_fix(reader, known, result.signature, here, session_id=session_id)
    if found is None:
        return NOTHING
    return Reminder(
        sort="remedy",
        instead=found.command,
        failed=result.first_error,
        times=found.times,
        item=found.item,
    )


def decided(sources: Sources, prompt: str, here: Filters, *, now_ms: int) -> Reminder:
    """Return what a person decided about a symbol or file that a prompt names; mostly nothing."""
    about = Filters(
        project_id=here.project_id,
        owner=here.owner,
        kinds=("note",),
        types=tuple(sorted(KNOWLEDGE_TYPES)),
        trusted_at_ms=now_ms,
        since_ms=0,  # the time words of a prompt say when to do something, not when it was decided
    )
    prompt = prompt[:PROMPT_CHARS]
    hits = search(sources, prompt, about, limit=LOOKED_AT, now_ms=now_ms).hits
    item = next((hit.item for hit in hits if _is_strong(hit, prompt)), None)
    if item is None:
        return NOTHING
    return Reminder(
        sort="rule", instead=item.narrative or item.title, failed=item.type, item=item.id
    )


def _known(reader: StoreReader, event: Event, here: Filters) -> tuple[ProjectState, str]:
    """Return the state of the project, and the worktree that an event belongs to."""
    known = project_state.decode(reader.project_state(here.project_id or 0))
    around = [root for root in known.branches if _is_in(event.cwd, root)]
    return known, max(around, key=len, default="")


def _is_in(folder: str, root: str) -> bool:
    return f"{folder.rstrip('/')}/".startswith(f"{root.rstrip('/')}/")


def _form(known: ProjectState, command: str, root: str, cwd: str) -> Reminder:
    found = known_fixes.find_form(known, command, root=root, cwd=cwd)
    if found is None:
        return NOTHING
    return Reminder(
        instead=found.worked.line,
        failed=found.failed.line,
        why=found.error,
        times=found.times,
        item=known_fixes.item_of(found),
    )


def _is_strong(hit: Hit, prompt: str) -> bool:
    item = hit.item
    is_near = hit.signals.semantic >= STRONG_MEANING
    if not is_near or item.status != "active" or not _is_persons(item):
        return False
    return not _names(prompt).isdisjoint(_names(f"{item.title}\n{item.narrative}"))


def _names(text: str) -> set[str]:
    """Return the symbols and files that a text names, letter by letter: search bends words."""
    return {path.rpartition("/")[2] for path in _NAME.findall(text)}


def _is_persons(item: Item) -> bool:
    return item.author == "person" or item.approval == "approved"
