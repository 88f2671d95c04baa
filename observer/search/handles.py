"""What the names of projects, sessions, items and owners resolve to: exact handles, never a guess.

Owners of personal notes are people by their names, agents, and agents that store for a user. A user
and an agent of one name are two owners.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, NamedTuple

from observer.core.errors import Ambiguous, BadInput, NotFound
from observer.core.events import Layer, Scope
from observer.core.filters import Filters, Whose, commit_author
from observer.core.model import UNASSIGNED, Item, ItemKind, Project
from observer.core.paths import is_inside
from observer.core.text import relative
from observer.core.value import Value
from observer.observations.drafts import FAILED
from observer.observations.note_reducer import label_of, note_type, tags_of
from observer.redaction.redact import redact_text
from observer.search.query import quoted
from observer.store.reader import StoreReader

LARGEST_ID = 2**63 - 1
HINTED = 5
"""Projects, or people, that a hint names."""
AMONG = 50
"""Commits, the newest, among which an author's name is looked for."""
DIGITS = len(str(LARGEST_ID))


class SearchOptions(Value):
    """What a search or list is restricted to, as in `Filters`; empty fields do not restrict.

    `session` is the client's own id, or ours; `failed` lets only failed calls through.
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


_SAME = ("kinds", "branch", "since_ms", "until_ms", "before_id", "layer", "scope", "owner_tag")
"""Of an option what it is of a filter."""


def filters_of(
    reader: StoreReader, narrow: SearchOptions, *, project: str | None, owner: str
) -> Filters:
    """Return what items must be, with the names of project, files and session looked up.

    Whole paths of files in one project ask for that project where none is named.

    Raises: NotFound, Ambiguous (the project, the session, or the person).
    """
    by, whose = _person(reader, narrow, owner)
    same = {name: getattr(narrow, name) for name in _SAME}
    categories: tuple[str, ...] = (FAILED,) if narrow.failed else ()
    if (category := label_of(narrow.category)) and not narrow.failed:  # with those below it
        counted = reader.counts("category", Filters(kinds=("note",), owner=owner))
        below = sorted(name for name in counted if name.startswith(f"{category.rstrip('/')}/"))
        categories = (category, *below)
    projects = reader.projects() if project or narrow.files else []
    files, home = located(projects, narrow.files)
    return Filters(
        project_id=named(projects, project).id if project else home,
        types=tuple(note_type(name) for name in narrow.types if name.strip()),
        categories=categories,
        files=files,
        session_id=session_id(reader, narrow.session),
        sessions=reader.sessions_of(narrow.client) if narrow.client else None,
        tags=tags_of(narrow.tags),
        owner=owner,
        by=by,
        whose=whose,
        **same,
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

    Raises: NotFound (none fits), Ambiguous (several fit; the hint lists their exact handles).
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
    newest_first = [project for project in reversed(projects) if project.id != UNASSIGNED]
    names = list(dict.fromkeys(project.name for project in newest_first))
    shown = ", ".join(get_close_matches(handle, names, n=3) or names[:HINTED])
    raise NotFound(
        f"no project {handle!r}" if handle else "no project is known here",
        hint=f"name one, such as {shown}; observer status --projects lists them"
        if shown
        else "nothing is recorded yet: connect a client with observer install",
    )


def meant(reader: StoreReader, handle: str) -> int:
    """Return the id of the item that a handle stands for; see `Memory.resolve`.

    Raises: NotFound (none fits), Ambiguous (several fit).
    """
    number = handle.strip().removeprefix("#")
    ids = reader.resolve(number)
    if not ids:
        hint = "search for it first"
        found = reader.item(int(number), deleted=True) if is_id(number) else None
        if found and not found.owner:
            hint = f"it was deleted; bring it back with: observer undo {found.id}"
            if reader.gone([found.uuid]):
                hint = "it was deleted on another machine, for good"
        raise NotFound(f"no item {handle!r}", hint=hint)
    if len(ids) > 1:
        one_of = f"one of: {', '.join(map(str, ids))}"
        raise Ambiguous(f"{handle!r} fits several items", hint=one_of)
    return ids[0]


def is_id(text: str) -> bool:
    """Return True if a text is a number that an item or session may have."""
    return text.isascii() and text.isdecimal() and len(text) < DIGITS


def session_id(reader: StoreReader, handle: str) -> int | None:
    """Return the session that a client's own id, or ours, stands for; None for no handle.

    `s12` is ours; `#142` is the session of that item. Raises: NotFound (there is none).
    """
    if not handle:
        return None
    session = reader.session_called(handle)
    if session is None and handle[:1] == "s" and handle[1:].isdecimal():
        handle = handle[1:]  # as sessions are listed
    number = handle.removeprefix("#")
    if session is None and is_id(number):
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


OWNER_CHARS = 200
TAG_CHARS = 60
"""A longer tag is cut, and two agents could be one."""

AGENT = "agent_id"
"""The metadata field that names the agent through which a user's memory was stored."""

_AGENT, _USER = "agent:", "user:"


class Owner(NamedTuple):
    """One owner; `agent` restricts a user's memories to those stored through that agent."""

    kind: Literal["user", "agent"]
    name: str
    agent: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def key(self) -> str:
        """Return the owner's name in notes, unique for each kind and name."""
        if self.kind == "agent":
            return _AGENT + self.name
        return _USER + self.name if self.name.startswith((_AGENT, _USER)) else self.name

    @property
    def tag(self) -> str:
        """Return the tag of what an agent stored, whoever's it is; empty for a user."""
        return tag_of(self.name) if self.kind == "agent" else ""

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the tags of memories that an agent stored for a user.

        Raises: BadInput (the agent's name does not fit in a tag).
        """
        if not self.agent:
            return ()
        tag = tag_of(self.agent)
        if len(tag) > TAG_CHARS or not tag.isprintable() or " ".join(tag.split()) != tag:
            raise BadInput(
                f"agent_id {self.agent[:40]!r} cannot be kept beside a user_id",
                hint=f"use one line of at most {TAG_CHARS - len(_AGENT)} characters",
            )
        return (tag,)


def tag_of(agent: str) -> str:
    """Return the tag, as it is stored, of memories that an agent stored for a user."""
    return _AGENT + unicodedata.normalize("NFC", agent).lower()


def owner(user_id: str, agent_id: str, *, otherwise: str) -> Owner:
    """Return the owner: the user, else the agent, else the user called `otherwise`."""
    if user_id:
        return Owner("user", user_id, agent_id)
    return Owner("agent", agent_id) if agent_id else Owner("user", otherwise)


def owner_of(item: Item, agent: str = "") -> Owner:
    """Return the owner of a personal note; `agent` is the agent that stored it."""
    if item.owner.startswith(_AGENT):
        return Owner("agent", item.owner.removeprefix(_AGENT))
    return Owner("user", item.owner.removeprefix(_USER), agent)


def check_owner(name: str) -> None:
    """Refuse a name under which notes would not be found again: it is stored as all text is.

    Raises: BadInput (it is not a plain line of 1 to 200 characters, or looks like a secret).
    """
    if not 0 < len(name) <= OWNER_CHARS or not name.isprintable() or name != name.strip():
        raise BadInput(
            f"{name[:40]!r} cannot own notes", hint=f"use one line of 1 to {OWNER_CHARS} characters"
        )
    if redact_text(name) != name:
        raise BadInput("the owner's name looks like a secret", hint="use a name, not a key")
