"""Reminders: what an agent should see unasked at the moment of an action; mostly nothing.

A command is about to be made, or could not start, that the project knows as a dead end; or others
have changed a file that a session works on: see `observer.search.others`. `reminders` yields those
of one event. The reader did not ask, so silence is better than something weak: not that an error
was met before, nor how it was mended, which a session mostly finds with its next call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from observer.commands import check_runs, command_line, ending
from observer.commands.command_line import InvocationForm
from observer.core.events import Command, Event, FileWrite, Prompt
from observer.core.filters import Filters
from observer.core.model import item_id
from observer.core.value import Value
from observer.observations import project_state, session_state
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from observer.observations.project_state import Alternative, ProjectState
from observer.search.eligible import is_harmless
from observer.search.others import changed_by_others
from observer.store.reader import StoreReader


class Reminder(Value):
    """One reminder; nothing to show where `instead` is empty.

    `instead` is the form of a command that works where `failed` does not (`form`), or what others
    changed of a file (`others`). `why` and `times` say how sure that is, and `item` has the whole.
    """

    sort: Literal["form", "others"] = "form"
    instead: str = ""
    failed: str = ""
    why: str = ""
    times: int = 0
    item: int = 0

    @property
    def about(self) -> str:
        """Key of the reminder: a session is shown it once."""
        is_form = self.sort == "form"
        return f"{self.sort} {(self.why or self.failed) if is_form else self.item}"


NOTHING = Reminder()
MOST_SESSIONS, MOST_OF_A_KIND = 4, 20
"""Sessions that go on, and files of one, which are looked at for what others changed."""


def harmless(known: Reminder) -> Reminder:
    """Return a reminder, or nothing where it imitates markup of a client or model."""
    return known if is_harmless(known.instead, known.failed, known.why) else NOTHING


def reminders(
    reader: StoreReader, event: Event, here: Filters, *, is_coming: bool
) -> Iterator[Reminder]:
    """Yield reminders for an event that is about to happen, or has just happened.

    The first that the session has not been shown is meant; one may say nothing.
    """
    yield harmless(dead_end(reader, event, here, is_coming=is_coming))
    if is_coming and (other := changed_by_others(reader, event, here)):
        yield harmless(Reminder(sort="others", item=other.item, instead=other.said))


def dead_end(reader: StoreReader, event: Event, here: Filters, *, is_coming: bool) -> Reminder:
    """Return what works instead of a command that is about to be made, or that could not start."""
    if not isinstance(event.body, Command):
        return NOTHING
    known, root = _known(reader, event, here)
    if not is_coming:
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
    found = find_form(known, command, root=root, cwd=cwd)
    return _of_form(found) if found else NOTHING


def _of_form(found: Alternative) -> Reminder:
    return Reminder(
        instead=found.worked.line,
        failed=found.failed.line,
        why=found.error,
        times=found.times,
        item=item_of(found),
    )


def standing(reader: StoreReader, here: Filters, *, now_ms: int) -> Iterator[Reminder]:
    """Yield what a session of a project may be reminded of, were it to do what that is about.

    Those are commands that do not work here, and what others changed in files that sessions which
    go on know.
    """
    known = project_state.decode(reader.project_state(here.project_id or 0))
    for one in sorted(filter(_is_certain, known.alternatives), key=lambda one: -one.times):
        yield harmless(_of_form(one))
    for session in reader.sessions(project_id=here.project_id, active=True, limit=MOST_SESSIONS):
        event = Event(
            id="", at_ms=now_ms, client=session.client, session=session.external, cwd=session.cwd,
            body=Prompt(text=""),
        )  # fmt: skip
        files = session_state.decode(session.state).files if reader.has_others(session) else ()
        for path in list(files)[-MOST_OF_A_KIND:]:
            write = replace(event, body=FileWrite(path=path))
            if other := changed_by_others(reader, write, here):
                yield harmless(Reminder(sort="others", item=other.item, instead=other.said))


_CERTAIN = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find_form(known: ProjectState, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = check_runs.folder_of(command_line.simple_commands(command), root, cwd)
    typed = command_line.forms_of(command, folder=folder)
    found = [one for one in able if any(_is_of(form, one) for form in typed)]
    return max(found, key=lambda one: one.times, default=None)


def item_of(found: Alternative) -> int:
    """Return the item that describes a command form that works."""
    return item_id(found.origin.seq, "arc")


def _is_certain(one: Alternative) -> bool:
    whole = not one.failed.line.endswith(_CUT) and not one.worked.line.endswith(_CUT)
    return whole and one.reason in _CERTAIN and not one.is_refuted


def _is_of(form: InvocationForm, one: Alternative) -> bool:
    """Return True if a form is what failed, or begins with the words that were to blame."""
    stem = _stem(one)
    return command_line.is_same_form(form, one.failed) or (
        bool(stem) and f"{form.line} ".startswith(stem) and not one.worked.line.startswith(stem)
    )


def _stem(one: Alternative) -> str:
    """Return the beginning of a failed line that cannot run, whatever follows; "" for none.

    `wrap bun` of `wrap bun run test` where wrap knows no `bun`: so will `wrap bun run lint`.
    """
    blamed = ending.start_failure(one.error).name
    words = one.failed.line.split()
    if one.reason not in {"missing", "usage"} or blamed.startswith("-") or blamed not in words:
        return ""
    return " ".join(words[: words.index(blamed) + 1]) + " "
