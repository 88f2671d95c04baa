"""Reminders: what an agent should see unasked at the moment of an action; mostly nothing.

A command or edit is about to be made (`before`), or a command could not start (`after`), that the
project knows as a dead end; or a compaction left something out. `reminders` yields those of one
event. The reader did not ask, so silence is better than something weak: not that an error was met
before, nor how it was mended, which a session mostly finds with its next call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from observer.core.events import Command, Event, FileWrite
from observer.core.filters import Filters
from observer.core.value import Value
from observer.observations import project_state
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from observer.observations.project_state import ProjectState
from observer.outcomes import ending
from observer.search import dead_ends
from observer.search.dropped import dropped
from observer.search.eligible import brought, is_harmless
from observer.store.reader import StoreReader


class Reminder(Value):
    """One reminder; nothing to show where `instead` is empty.

    `instead` is what to do, the form of a command that works where `failed` does not (`form`), or
    what is known: how an edit of `failed` went (`returned`), what a compaction left out, a line
    each (`dropped`). `why` and `times` say how sure that is, and `item` has the whole.
    """

    sort: Literal["form", "returned", "dropped"] = "form"
    instead: str = ""
    failed: str = ""
    why: str = ""
    times: int = 0
    item: int = 0

    @property
    def about(self) -> str:
        """Key of the reminder: a session is shown it once."""
        causes = {"form": self.why or self.failed, "dropped": str(self.item)}
        return f"{self.sort} {causes.get(self.sort, f'{self.failed} {self.instead}')}"


NOTHING = Reminder()


def harmless(known: Reminder) -> Reminder:
    """Return a reminder, or nothing where it imitates markup of a client or model."""
    return known if is_harmless(known.instead, known.failed, known.why) else NOTHING


def reminders(
    reader: StoreReader, event: Event, here: Filters, *, is_coming: bool
) -> Iterator[Reminder]:
    """Yield reminders for an event that is about to happen, or has just happened.

    The first that the session has not been shown is meant; one may say nothing.
    """
    if found := dropped(reader, event, here):
        yield Reminder(sort="dropped", item=found[0], instead=found[1])
    known = harmless((before if is_coming else after)(reader, event, here))
    yield NOTHING if known is NOTHING or brought(reader, [known.item]) else known


def before(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    """Return what is known of a command or edit that is about to be made, in its project."""
    known, root = _known(reader, event, here)
    if isinstance(event.body, Command):
        return _form(known, event.body.command, root, event.cwd)
    if not isinstance(event.body, FileWrite):
        return NOTHING
    where = Where(root=root, cwd=event.cwd)
    session_id = reader.runs(event.client, event.session).get(here.project_id or 0)
    found = dead_ends.find_reverted_edit(known, event.body, where, session_id)
    if found is None:
        return NOTHING
    return Reminder(
        sort="returned", instead=found.how, failed=found.edit.path, item=found.edit.item
    )


def after(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    """Return what works instead of a command that could not start, by its output if need be."""
    if not isinstance(event.body, Command):
        return NOTHING
    known, root = _known(reader, event, here)
    result = analyze(event.body, Where(root=root, cwd=event.cwd)).result
    has_failed = result.ok is False and result.was_run
    if not has_failed or not ending.start_failure(event.body.output).reason:
        return NOTHING
    return _form(known, event.body.command, root, event.cwd)


def _known(reader: StoreReader, event: Event, here: Filters) -> tuple[ProjectState, str]:
    """Return the state of the project, and the worktree that an event belongs to."""
    known = project_state.decode(reader.project_state(here.project_id or 0))
    around = [root for root in known.branches if _is_in(event.cwd, root)]
    return known, max(around, key=len, default="")


def _is_in(folder: str, root: str) -> bool:
    return f"{folder.rstrip('/')}/".startswith(f"{root.rstrip('/')}/")


def _form(known: ProjectState, command: str, root: str, cwd: str) -> Reminder:
    found = dead_ends.find_form(known, command, root=root, cwd=cwd)
    if found is None:
        return NOTHING
    return Reminder(
        instead=found.worked.line,
        failed=found.failed.line,
        why=found.error,
        times=found.times,
        item=dead_ends.item_of(found),
    )
