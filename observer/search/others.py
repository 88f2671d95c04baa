"""What others changed of a file while a session works on it: said once, before its next edit there.

Others are people who share what they do, and sessions of this home on another branch or in another
work tree: what they changed is not in the file that is about to be edited. Who works in the same
work tree changes that very file, which the client sees itself. Said is what is recorded: who, when,
on which branch, which symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.code.edits import parameters_changed
from observer.core.events import Event, FileWrite
from observer.core.filters import OURS, Filters
from observer.core.model import Item, Session, item_id, seq_of
from observer.core.paths import is_inside
from observer.core.text import ago, listed, named, one_line, relative
from observer.core.value import Value
from observer.observations import session_state
from observer.search.query import quoted
from observer.store.reader import StoreReader

LOOKED_AT = 20
"""Changes of the file, the newest, that are looked at."""
NAME_CHARS, NAMES = 40, 2
_SYMBOL = re.compile(r"[^\W\d][\w.:$-]*")
"""A symbol that is a name: headings and titles of tests may be any sentence."""


class OtherChange(Value):
    """A change of a file that others made; `item` is its item, `said` a line about it."""

    item: int
    path: str
    said: str


def changed_by_others(reader: StoreReader, event: Event, here: Filters) -> OtherChange | None:
    """Return the newest change of the file that an event is about to edit, if others made one.

    None unless the session has read or edited the file, and the change came after it began.
    """
    if not isinstance(event.body, FileWrite) or here.project_id is None:
        return None
    session = reader.session(reader.runs(event.client, event.session).get(here.project_id, 0))
    if session is None or not reader.has_others(session):
        return None
    roots = [root for one in reader.projects() if one.id == here.project_id for root in one.roots]
    root = max((one for one in roots if is_inside(event.cwd, one)), key=len, default="")
    path = relative(event.body.path, root, event.cwd)
    if path not in session_state.decode(session.state).files:
        return None
    changes = Filters(project_id=here.project_id, types=("commit", "file-write"), owner=here.owner)
    ids = reader.match(f"files : {quoted(path)}", changes, limit=LOOKED_AT)
    for item in reader.items([one for one in ids if one > item_id(session.id)]):
        who = _who(reader, item, session, root) if path in item.files_modified else ""
        if who:
            said = _said(reader, item, path, who, now_ms=event.at_ms)
            return OtherChange(item=item.id, path=path, said=said)
    return None


def _who(reader: StoreReader, item: Item, session: Session, root: str) -> str:
    """Return who made a change, as it is shown; "" for this session and who works beside it."""
    if item.person:
        return item.person if item.person in OURS else named(one_line(item.person, NAME_CHARS))
    by = reader.session(item.session_id or 0)
    if by is None or by.id == session.id or _is_family(by, session):
        return ""
    is_apart = item.branch != session.branch or not is_inside(by.cwd, root)
    return f"another session ({by.client})" if is_apart else ""


def _is_family(one: Session, other: Session) -> bool:
    """Return True for a session and its sub-agents, and for two sub-agents of one session."""
    names = {one.external, one.parent} & {other.external, other.parent}
    return bool(names - {""})


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
