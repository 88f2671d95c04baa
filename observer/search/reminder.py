"""Reminders: what an agent should see unasked at the moment of an action; mostly nothing.

A command is about to be made, or could not start, that the project knows as a dead end; or others
have changed a file that a session works on. The reader did not ask, so silence is better than
something weak: not that an error was met before, nor how it was mended.

Others are people who share what they do, and sessions of this home on another branch or in another
work tree. Who works in the same work tree changes that very file, which the client sees itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from observer.code.edits import parameters_changed
from observer.commands import check_runs, command_line, ending
from observer.core.events import Command, Event, FileWrite, Prompt
from observer.core.filters import OURS, Filters
from observer.core.model import Item, Session, item_id, seq_of
from observer.core.paths import is_inside
from observer.core.text import ago, listed, named, one_line, relative
from observer.core.value import Value
from observer.observations import project_state, session_state
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from observer.observations.project_state import Alternative, ProjectState
from observer.search.query import quoted
from observer.search.rank import is_harmless
from observer.store.reader import StoreReader

LOOKED_AT = 20
"""Changes of the file, the newest, that are looked at."""
NAME_CHARS, NAMES = 40, 2
_SYMBOL = re.compile(r"[^\W\d][\w.:$-]*")
"""A symbol that is a name: headings and titles of tests may be any sentence."""


def changed_by_others(reader: StoreReader, event: Event, here: Filters) -> Iterator[Reminder]:
    """Yield the newest change of the file that an event is about to edit, if others made one.

    The session must have read or edited the file, and the change have come after it began.
    """
    if not isinstance(event.body, FileWrite) or here.project_id is None:
        return
    session = reader.session(reader.runs(event.client, event.session).get(here.project_id, 0))
    if session is None or not reader.has_others(session):
        return
    roots = [root for one in reader.projects() if one.id == here.project_id for root in one.roots]
    root = max((one for one in roots if is_inside(event.cwd, one)), key=len, default="")
    path = relative(event.body.path, root, event.cwd)
    if path not in session_state.decode(session.state).files:
        return
    changes = Filters(project_id=here.project_id, types=("commit", "file-write"), owner=here.owner)
    ids = reader.match(f"files : {quoted(path)}", changes, limit=LOOKED_AT)
    for item in reader.items([one for one in ids if one > item_id(session.id)]):
        who = _who(reader, item, session, root) if path in item.files_modified else ""
        if who:
            said = _said(reader, item, path, who, now_ms=event.at_ms)
            yield harmless(Reminder(sort="others", item=item.id, instead=said))
            return


def _who(reader: StoreReader, item: Item, session: Session, root: str) -> str:
    """Return who made a change, as it is shown; "" for this session and who works beside it."""
    if item.person:
        return item.person if item.person in OURS else named(one_line(item.person, NAME_CHARS))
    by = reader.session(item.session_id or 0)
    names = {session.external, session.parent} - {""}
    # A session and its sub-agents, and two sub-agents of one session, are one.
    if by is None or by.id == session.id or names & {by.external, by.parent}:
        return ""
    is_apart = item.branch != session.branch or not is_inside(by.cwd, root)
    return f"another session ({by.client})" if is_apart else ""


def _said(reader: StoreReader, item: Item, path: str, who: str, *, now_ms: int) -> str:
    symbols = [
        f"`{name}`"
        for where, names in changed_symbols(item)
        if where == path
        for name in re.split(r", | and ", names)
        if _SYMBOL.fullmatch(name) and len(name) <= NAME_CHARS
    ]
    what = f"{listed(symbols, NAMES)} in {named(path)}" if symbols else named(path)
    on = f" on branch {named(item.branch)}" if item.branch else ""
    when = ago(now_ms - item.created_ms)
    return f"{who} changed {what}{on} {when}{_taking(reader, item, is_sole=len(symbols) == 1)}"


def _taking(reader: StoreReader, item: Item, *, is_sole: bool) -> str:
    """Return what a function takes now, where an edit changed the parameters of just one."""
    writes = [one.event.body for one in reader.logged([seq_of(item.id)])]
    changed = [
        found
        for write in writes
        if isinstance(write, FileWrite)
        for found in parameters_changed(write).items()
    ]
    if len(changed) != 1:
        return ""
    ((path, lists),) = changed
    gained, lost = ([named(one_line(each, NAME_CHARS)) for each in some] for some in lists)
    says = [f"now takes {listed(gained, NAMES)}"] if gained else []
    says += [f"takes {listed(lost, NAMES)} no more"] if lost else []
    return f": {'' if is_sole else named(path) + ' '}{', '.join(says)}"


_OF_COMMIT = re.compile(
    r"[A-Z?] (?:.+ -> )?(.+?)(?: binary| \+\d+ -\d+)(?:: (.+?))?(?:; brings .+)?"
)
"""A file of a commit, and the symbols that it changed there."""
_OF_TURN = re.compile(r"(?:changed )?(.+?) \((.+)\)")
"""The same of a turn or a fix."""
_OF_WRITE = re.compile(
    r"(?:added|changed the (?:signature|comments) of|renamed|changed|removed|moved) (.+)"
)


def changed_symbols(item: Item) -> Iterator[tuple[str, str]]:
    """Yield the files of a change with the text that lists what was changed in each."""
    for fact in item.facts:
        if item.type == "file-write":
            if (found := _OF_WRITE.fullmatch(fact)) and item.files_modified:
                yield item.files_modified[0], found[1]
        elif item.type == "commit":
            if (found := _OF_COMMIT.fullmatch(fact)) and found[2]:
                yield found[1], found[2]
        elif (found := _OF_TURN.fullmatch(fact)) and found[1] in item.files_modified:
            yield found[1], found[2]


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
    if is_coming:
        yield from changed_by_others(reader, event, here)


def dead_end(reader: StoreReader, event: Event, here: Filters, *, is_coming: bool) -> Reminder:
    """Return what works instead of a command that is about to be made, or that could not start."""
    if not isinstance(event.body, Command):
        return NOTHING
    known = project_state.decode(reader.project_state(here.project_id or 0))
    around = [root for root in known.branches if is_inside(event.cwd, root)]
    root = max(around, key=len, default="")
    if not is_coming:
        result = analyze(event.body, Where(root=root, cwd=event.cwd)).result
        has_failed = result.ok is False and result.was_run
        if not has_failed or not ending.start_failure(event.body.output).reason:
            return NOTHING
    found = find_form(known, event.body.command, root=root, cwd=event.cwd)
    return _of_form(found) if found else NOTHING


def _of_form(found: Alternative) -> Reminder:
    return Reminder(
        instead=found.worked.line,
        failed=found.failed.line,
        why=found.error,
        times=found.times,
        item=item_id(found.origin.seq, "arc"),
    )


def standing(reader: StoreReader, here: Filters, *, now_ms: int) -> Iterator[Reminder]:
    """Yield what a session of a project may be reminded of, were it to do what that is about.

    Commands that do not work here, and what others changed in files that running sessions know.
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
            yield from changed_by_others(reader, write, here)


_CERTAIN = frozenset({"missing", "usage", "script", "folder", "permission"})
_CUT = "…"


def find_form(known: ProjectState, command: str, *, root: str, cwd: str) -> Alternative | None:
    """Return what works instead of a command of this line, by the pair that was met most often."""
    able = [one for one in known.alternatives if _is_certain(one)]
    if not able:
        return None
    folder = check_runs.folder_of(command_line.simple_commands(command), root, cwd)
    typed = command_line.forms_of(command, folder=folder)
    found = [
        one
        for one in able
        if any(form.line == one.failed.line for form in typed)
        or (
            (stem := _stem(one))
            and not one.worked.line.startswith(stem)
            and any(f"{form.line} ".startswith(stem) for form in typed)
        )
    ]
    return max(found, key=lambda one: one.times, default=None)


def _is_certain(one: Alternative) -> bool:
    whole = not one.failed.line.endswith(_CUT) and not one.worked.line.endswith(_CUT)
    return whole and one.reason in _CERTAIN and not one.is_refuted


def _stem(one: Alternative) -> str:
    """Return the beginning of a failed line that cannot run, whatever follows; "" for none.

    `wrap bun` of `wrap bun run test` where wrap knows no `bun`: so will `wrap bun run lint`.
    """
    blamed = ending.start_failure(one.error).name
    words = one.failed.line.split()
    if one.reason not in {"missing", "usage"} or blamed.startswith("-") or blamed not in words:
        return ""
    return " ".join(words[: words.index(blamed) + 1]) + " "
