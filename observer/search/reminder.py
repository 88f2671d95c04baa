"""Reminders: what an agent should see unasked at the moment of an action; mostly nothing.

A command or edit is about to be made (`before`), or a command could not start (`after`), that the
project knows as a dead end; or a compaction left something out. `reminders` yields those of one
event. The reader did not ask, so silence is better than something weak: not that an error was met
before, nor how it was mended, which a session mostly finds with its next call.

What others change of a file that a session works on is news before its next edit there: see
`observer.search.others`. An edit that another session made and took back is recognised by the
fingerprints of its lines. Of a compaction it says what an agent repeats or breaks when its context
no longer has it: decisions, attempts that did not help, and checks that still fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec.structs import replace

from observer.code import edits
from observer.commands import check_runs, command_forms, command_line, ending
from observer.commands.command_forms import InvocationForm
from observer.core.events import Command, Compaction, Event, FileWrite, Prompt
from observer.core.filters import Filters
from observer.core.model import KNOWLEDGE_TYPES, Item, Session, item_id
from observer.core.text import one_line, relative
from observer.core.value import Value
from observer.observations import project_state, session_state
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from observer.observations.open_failures import OpenFailure
from observer.observations.project_state import (
    DROPPED,
    STASHED,
    Alternative,
    ProjectState,
    TrackedEdit,
)
from observer.search.eligible import is_harmless, is_stale
from observer.search.others import changed_by_others
from observer.store.reader import StoreReader


class Reminder(Value):
    """One reminder; nothing to show where `instead` is empty.

    `instead` is what to do, the form of a command that works where `failed` does not (`form`), or
    what is known: how an edit of `failed` went (`returned`), what a compaction left out, a line
    each (`dropped`), what others changed of a file (`others`). `why` and `times` say how sure
    that is, and `item` has the whole.
    """

    sort: Literal["form", "returned", "dropped", "others"] = "form"
    instead: str = ""
    failed: str = ""
    why: str = ""
    times: int = 0
    item: int = 0

    @property
    def about(self) -> str:
        """Key of the reminder: a session is shown it once."""
        of_item = str(self.item)
        causes = {"form": self.why or self.failed, "dropped": of_item, "others": of_item}
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
    yield harmless((before if is_coming else after)(reader, event, here))
    if is_coming and (other := changed_by_others(reader, event, here)):
        yield harmless(Reminder(sort="others", item=other.item, instead=other.said))


def before(reader: StoreReader, event: Event, here: Filters) -> Reminder:
    """Return what is known of a command or edit that is about to be made, in its project."""
    known, root = _known(reader, event, here)
    if isinstance(event.body, Command):
        return _form(known, event.body.command, root, event.cwd)
    if not isinstance(event.body, FileWrite):
        return NOTHING
    where = Where(root=root, cwd=event.cwd)
    session_id = reader.runs(event.client, event.session).get(here.project_id or 0)
    found = find_reverted_edit(known, event.body, where, session_id)
    return _of_edit(found) if found else NOTHING


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
    found = find_form(known, command, root=root, cwd=cwd)
    return _of_form(found) if found else NOTHING


def _of_edit(found: Returned) -> Reminder:
    return Reminder(
        sort="returned", instead=found.how, failed=found.edit.path, item=found.edit.item
    )


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

    Those are commands that do not work here, the edits that were taken back, and of the sessions
    that go on what a compaction left out, and what others changed in files that they know.
    """
    known = project_state.decode(reader.project_state(here.project_id or 0))
    for one in sorted(filter(_is_certain, known.alternatives), key=lambda one: -one.times):
        yield harmless(_of_form(one))
    gone = {
        (edit.path, edit.marks): edit
        for edit in known.edits
        if edit.marks and edit.session is not None
    }
    for edit in reversed(gone.values()):
        if edit.reverted_by not in {"", STASHED}:
            yield harmless(_of_edit(Returned(edit, _how(known, edit))))
    for session in reader.sessions(project_id=here.project_id, active=True, limit=MOST_SESSIONS):
        event = Event(
            id="", at_ms=now_ms, client=session.client, session=session.external, cwd=session.cwd,
            body=Prompt(text=""),
        )  # fmt: skip
        if found := dropped(reader, event, here):
            yield Reminder(sort="dropped", item=found[0], instead=found[1])
        files = session_state.decode(session.state).files if reader.has_others(session) else ()
        for path in list(files)[-MOST_OF_A_KIND:]:
            write = replace(event, body=FileWrite(path=path))
            if other := changed_by_others(reader, write, here):
                yield harmless(Reminder(sort="others", item=other.item, instead=other.said))


class Returned(NamedTuple):
    """The edit that was taken back, and how that happened."""

    edit: TrackedEdit
    how: str


def find_reverted_edit(
    known: ProjectState, write: FileWrite, where: Where, session_id: int | None
) -> Returned | None:
    """Return the newest edit of an earlier session that a write repeats and that is gone."""
    coming = set(edits.fingerprints_of(write).edits)
    path = relative(write.path, where.root, where.cwd)
    for edit in reversed(known.edits if coming else ()):
        if edit.path == path and coming <= set(edit.marks):
            is_gone = edit.reverted_by not in {"", STASHED} and edit.session not in {
                None,
                session_id,
            }
            return Returned(edit, _how(known, edit)) if is_gone else None
    return None


def _how(known: ProjectState, edit: TrackedEdit) -> str:
    if edit.reverted_by != DROPPED:
        return f"reverted in {edit.reverted_by[:10]}"
    undo = [one for one in known.edits if one.kind == "undo" and one.since <= edit.seq < one.seq]
    return undo[0].said if undo else "taken back"


_CERTAIN = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find_form(known: ProjectState, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = check_runs.folder_of(command_line.simple_commands(command), root, cwd)
    typed = command_forms.forms_of(command, folder=folder)
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
    return command_forms.is_same_form(form, one.failed) or (
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


MOST_CHARS = 1_000
"""About 270 tokens; what does not fit is left out, the last first."""
LINE_CHARS = 240
MOST_OF_A_KIND = 20
MOST_SESSIONS = 4
"""Sessions that go on which are looked at for what they may be reminded of."""
KEPT = 0.5
"""Share of the words of a statement that a summary has which keeps it: a paraphrase keeps names."""
_WORD = re.compile(r"[^\W\d_]\w{3,}")
"""Shorter words mostly say nothing alone."""
_STEM = 5
"""Letters by which two words count as one: "retries" and "retry", "decided" and "decision"."""


def dropped(reader: StoreReader, event: Event, here: Filters) -> tuple[int, str] | None:
    """Return what the last summary of an event's session left out and still matters.

    The item of the compaction, and a line each. None where the client has not compacted its
    context, did not show what it kept, or kept all.
    """
    runs = reader.runs(event.client, event.session)
    session = reader.session(runs.get(here.project_id or 0, 0))
    found = _last(reader, session, here) if session else None
    if session is None or found is None:
        return None
    item, summary = found
    lines = (
        line
        for line, is_kept in _known_before(reader, session, item, summary, owner=here.owner)
        if not is_kept
    )
    said = _fitting(line for line in lines if is_harmless(line))
    return (item.id, "\n".join(said)) if said else None


def _last(reader: StoreReader, session: Session, here: Filters) -> tuple[Item, str] | None:
    """Return the item of a session's last compaction, and its whole summary."""
    of = Filters(project_id=here.project_id, session_id=session.id, types=("compaction",))
    item = next(iter(reader.recent(of, limit=1)), None)
    if item is None:
        return None
    at_ms = item.created_ms
    bodies = (
        recorded.event.body
        for recorded in reader.recorded_near(session.id, from_ms=at_ms, to_ms=at_ms)
    )
    summary = next((body.summary for body in bodies if isinstance(body, Compaction)), "")
    return (item, summary) if summary else None


def _known_before(
    reader: StoreReader, session: Session, compaction: Item, summary: str, *, owner: str
) -> Iterator[tuple[str, bool]]:
    """Yield what was known before a compaction as lines, and whether its summary has them."""
    stems = _stems(summary)
    state = project_state.decode(reader.project_state(session.project_id))
    for failure in state.failures:
        if session.id in failure.sessions and failure.since_ms < compaction.created_ms:
            said = one_line(f"still fails: {failure.head}: {failure.said}", LINE_CHARS)
            yield f"- {said} #{failure.item}", _names_failure(summary, stems, failure)
    since = Filters(
        project_id=session.project_id,
        until_ms=compaction.created_ms,
        owner=owner,
    )
    own = replace(since, kinds=("observation", "record"), session_id=session.id)
    noted = replace(
        since,
        kinds=("note",),
        since_ms=session.started_ms,
        trusted_at_ms=compaction.created_ms,
    )
    rejected, decided = ("rejected",), tuple(sorted(KNOWLEDGE_TYPES - {"rejected"}))
    for label, types in (("decided", decided), ("tried, did not help", rejected)):
        for of in (own, noted):
            found = reader.recent(replace(of, types=types), limit=MOST_OF_A_KIND)
            for item in filter(_stands, found):
                text = one_line(item.narrative or item.title, LINE_CHARS)
                yield f"- {label}: {text} #{item.id}", _share(text, stems) >= KEPT


def _stands(item: Item) -> bool:
    return not (item.suspicion or is_stale(item))


def _names_failure(summary: str, stems: frozenset[str], failure: OpenFailure) -> bool:
    names = [name.rpartition("::")[2] for name in failure.tests or failure.failing]
    if names:
        return any(name in summary for name in names)
    return _share(f"{failure.head} {failure.error or failure.said}", stems) >= KEPT


def _share(text: str, stems: frozenset[str]) -> float:
    own = _stems(text)
    return len(own & stems) / len(own) if own else 1.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM].lower() for word in _WORD.findall(text))


def _fitting(lines: Iterator[str]) -> list[str]:
    """Return the lines that fit, each once."""
    kept: list[str] = []
    left = MOST_CHARS
    for line in dict.fromkeys(lines):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept
