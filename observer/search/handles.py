"""What the names of projects, sessions and items resolve to: exact handles first, never a guess."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from observer.core.errors import Ambiguous, NotFound
from observer.core.events import Layer, Scope
from observer.core.filters import Filters, Whose, commit_author
from observer.core.model import UNASSIGNED, ItemKind, Project
from observer.core.paths import is_inside
from observer.core.text import relative
from observer.core.value import Value
from observer.observations.drafts import FAILED
from observer.observations.note_reducer import label_of, note_type, tags_of
from observer.search.query import quoted
from observer.store.reader import StoreReader

LARGEST_ID = 2**63 - 1
HINTED = 5
"""Projects, or people, that a hint names."""
AMONG = 50
"""Commits, the newest, among which an author's name is looked for."""
DIGITS = len(str(LARGEST_ID))


class SearchOptions(Value):
    """What a search or list is restricted to; empty fields do not restrict. All as in `Filters`.

    `session` is the client's own id of a session, or ours; `failed` lets through only commands and
    tool calls that failed. `client` is the name of a client, of whose sessions it must be.
    """

    kinds: tuple[ItemKind, ...] = ()
    types: tuple[str, ...] = ()
    category: str = ""
    files: tuple[str, ...] = ()
    session: str = ""
    client: str = ""
    branch: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    before_id: int = 0
    layer: Layer | None = None
    scope: Scope | None = None
    tags: tuple[str, ...] = ()
    owner_tag: str = ""
    failed: bool = False
    by: str = ""
    whose: Whose = ""


def filters_of(
    reader: StoreReader, narrow: SearchOptions, *, project: str | None, owner: str
) -> Filters:
    """Return what items must be, with the names of project, files and session looked up.

    Whole paths of files in one project ask for that project where none is named.

    Raises:
        NotFound, Ambiguous: the project, the session, or the person.
    """
    by, whose = _person(reader, narrow, owner)
    projects = reader.projects() if project or narrow.files else []
    files, home = located(projects, narrow.files)
    return Filters(
        project_id=named(projects, project).id if project else home,
        kinds=narrow.kinds,
        types=tuple(note_type(name) for name in narrow.types if name.strip()),
        categories=_categories(reader, narrow, owner),
        files=files,
        session_id=session_id(reader, narrow.session),
        sessions=reader.sessions_of(narrow.client) if narrow.client else None,
        branch=narrow.branch,
        since_ms=narrow.since_ms,
        until_ms=narrow.until_ms,
        before_id=narrow.before_id,
        layer=narrow.layer,
        scope=narrow.scope,
        tags=tags_of(narrow.tags),
        owner=owner,
        owner_tag=narrow.owner_tag,
        by=by,
        whose=whose,
    )


def _person(reader: StoreReader, narrow: SearchOptions, owner: str) -> tuple[str, Whose]:
    """Return the name of whom items must be by as they have it, and whose they must be."""
    by = narrow.by.strip()
    if by.casefold() == owner.casefold() != "":
        return "", "mine"
    if not by:
        # Where nobody shares anything all is one's own, and nothing need be compared.
        return "", narrow.whose if narrow.whose == "team" or reader.people() else ""
    people = reader.people()
    said, made = f"subtitle : {quoted(f'by {by}')}", Filters(types=("commit",), owner=owner)
    commits = reader.items(reader.match(said, made, limit=AMONG))
    for name in (*people, *map(commit_author, commits)):
        if name.casefold() == by.casefold():
            return name, narrow.whose
    known = ", ".join(people[:HINTED]) or "nobody yet"
    raise NotFound(
        f"nothing is known by {by[:80]!r}",
        hint=f"who shares: {known}; authors of commits are named as git has them",
    )


def _categories(reader: StoreReader, narrow: SearchOptions, owner: str) -> tuple[str, ...]:
    return (FAILED,) if narrow.failed else _within(reader, label_of(narrow.category), owner)


def _within(reader: StoreReader, category: str, owner: str) -> tuple[str, ...]:
    """Return a category and those below it, ``arch`` and ``arch/storage``; none for no category."""
    if not category:
        return ()
    known = reader.counts("category", Filters(kinds=("note",), owner=owner))
    below = sorted(name for name in known if name.startswith(f"{category.rstrip('/')}/"))
    return (category, *below)


def located(
    projects: Sequence[Project], files: Sequence[str]
) -> tuple[tuple[str, ...], int | None]:
    """Return files as items name them, and the one project in whose roots all of them lie, if any.

    A root itself restricts to nothing but its project.
    """
    bare = [file.rstrip("/") for file in files]
    places = [_innermost(projects, file) for file in bare]
    names = [
        relative(f"{file}/", root).rstrip("/") for file, (root, _) in zip(bare, places, strict=True)
    ]
    homes = {project.id if project else None for _, project in places}
    return tuple(names) if all(names) else (), homes.pop() if len(homes) == 1 else None


def around(projects: Sequence[Project], folder: str) -> Project | None:
    """Return the project whose root holds a folder; of nested ones the innermost."""
    return _innermost(projects, folder)[1]


def _innermost(projects: Sequence[Project], path: str) -> tuple[str, Project | None]:
    inside = [
        (root, project) for project in projects for root in project.roots if is_inside(path, root)
    ]
    return max(inside, key=lambda pair: len(pair[0]), default=("", None))


def named(projects: Sequence[Project], handle: str) -> Project:
    """Return the project that a uuid, name, folder or remote means.

    Raises:
        NotFound: none fits, or nothing is named.
        Ambiguous: several fit; the hint lists their exact handles.
    """
    folded = handle.casefold()
    for fits in (
        [p for p in projects if handle == p.uuid or handle in p.roots or handle in p.remotes],
        [p for p in projects if handle == p.name],
        [p for p in projects if folded == p.name.casefold() or handle in p.earlier_names],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise Ambiguous(
                f"{len(fits)} projects are called {handle!r}",
                hint="use one of these: "
                + ", ".join(p.roots[-1] if p.roots else p.uuid for p in fits),
            )
    if Path(handle).is_absolute() and (inside := around(projects, handle)):
        return inside
    hint = _known(projects, handle)
    if not handle:
        raise NotFound("no project is known here", hint=hint)
    raise NotFound(f"no project {handle!r}", hint=hint)


def _known(projects: Sequence[Project], handle: str) -> str:
    """Return which projects may be meant: those of nearly that name, else the newest."""
    placed = [project for project in reversed(projects) if project.id != UNASSIGNED]
    names = list(dict.fromkeys(project.name for project in placed))
    if not names:
        return "nothing is recorded yet: connect a client with observer install"
    near = get_close_matches(handle, names, n=3)
    shown = ", ".join(near or names[:HINTED])
    return f"name one, such as {shown}; observer status --projects lists them"


def meant(reader: StoreReader, handle: str) -> int:
    """Return the id of the item that a handle stands for; see `Memory.resolve`.

    Raises:
        NotFound: none fits.
        Ambiguous: several fit.
    """
    ids = reader.resolve(handle.strip().removeprefix("#"))
    if not ids:
        hint = _deleted(reader, handle.strip().removeprefix("#")) or "search for it first"
        raise NotFound(f"no item {handle!r}", hint=hint)
    if len(ids) > 1:
        raise Ambiguous(
            f"{handle!r} fits several items", hint="one of: " + ", ".join(map(str, ids))
        )
    return ids[0]


def _deleted(reader: StoreReader, number: str) -> str:
    """Return what can be done about an item that was deleted; '' for none, or somebody's own."""
    is_id = number.isascii() and number.isdecimal() and len(number) < DIGITS
    found = reader.item(int(number), deleted=True) if is_id else None
    if found is None or found.owner:
        return ""
    if reader.gone([found.uuid]):
        return "it was deleted on another machine, for good"
    return f"it was deleted; bring it back with: observer undo {found.id}"


def session_id(reader: StoreReader, handle: str) -> int | None:
    """Return the session that a client's own id, or ours, stands for; None for no handle.

    `s12` is ours, as sessions are listed; `#142`, as items are, is the session of that item.

    Raises:
        NotFound: there is none.
    """
    if not handle:
        return None
    session = reader.session_called(handle)
    if session is None and handle[:1] == "s" and handle[1:].isdecimal():
        handle = handle[1:]  # as sessions are listed
    number = handle.removeprefix("#")
    is_number = number.isascii() and number.isdecimal() and len(number) < DIGITS
    if session is None and is_number:
        items = reader.items([int(number)])
        its = items[0].session_id if items else None
        session = reader.session(int(number) if number == handle else its or 0)
        if session is None and its:
            raise NotFound(
                f"no session {handle}", hint=f"item #{number} is of session {its}; name that one"
            )
    if session is None:
        raise NotFound(f"no session {handle[:80]!r}", hint="see: observer sessions")
    return session.id
