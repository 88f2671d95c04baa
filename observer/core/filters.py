"""What an item must be to count."""

from __future__ import annotations

from typing import Literal

from observer.core.events import Layer, Scope
from observer.core.model import Item, ItemKind
from observer.core.value import Value

RECORDED_KINDS: frozenset[ItemKind] = frozenset({"note", "inference"})
"""Kinds of items that are recorded on purpose; the others are captured."""
CAPTURED: frozenset[ItemKind] = frozenset({"observation", "record"})
"""Kinds of items that stand for events."""
OWN = "another machine of yours"
"""The person of what this home's owner wrote elsewhere."""
OURS = ("", OWN)
HIDE, PIN = "hide", "pin"
"""What a person may choose of an item: it is given to nobody unasked, or among the first lines."""
Whose = Literal["", "mine", "team"]
"""Of whomever; the owner's own, of any machine; or of others who share it."""


class Filters(Value):
    """What an item must be to count; an empty field does not restrict.

    `since_ms` is inclusive, `until_ms` exclusive, both of `created_ms`; with `before_id` items of
    that very millisecond count whose id is lower. `files` are paths as items name them, or their
    ends (`rank.py`), or folders (`recall/`): one of them is touched. `owner` hides personal items
    of everybody else, but for those with `owner_tag`; an empty owner sees none. All `tags` must be
    there.
    """

    project_id: int | None = None
    kinds: tuple[ItemKind, ...] = ()
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    session_id: int | None = None
    sessions: frozenset[int] | None = None
    """The sessions of which something must be; None does not restrict."""
    branch: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    before_id: int = 0
    owner: str = ""
    owner_tag: str = ""
    layer: Layer | None = None
    scope: Scope | None = None
    tags: tuple[str, ...] = ()
    trusted_at_ms: int | None = None
    """Only what may be put before a model unasked at that time: nothing suspicious, no rule that
    waits for a person, nothing that has expired."""
    without: tuple[int, ...] = ()
    """Projects of which nothing counts: those that are not shared, asked from elsewhere."""
    by: str = ""
    """The name of who shared it, or of the author of a commit."""
    whose: Whose = ""
    with_global: bool = False
    """With `project_id`: personal and team items that belong to no project count too."""

    def admits(self, item: Item) -> bool:
        """Return True if an item is admitted."""
        return (
            item.project_id not in self.without
            and (
                self.project_id in {None, item.project_id}
                or (self.with_global and item.project_id is None)
            )
            and (not self.kinds or item.kind in self.kinds)
            and (not self.types or item.type in self.types)
            and (not self.categories or item.category in self.categories)
            and self.branch in {"", item.branch}
            and (self.session_id is None or item.session_id == self.session_id)
            and (self.sessions is None or item.session_id in self.sessions)
            and (self.since_ms is None or item.created_ms >= self.since_ms)
            and (
                self.until_ms is None
                or (item.created_ms, item.id) < (self.until_ms, self.before_id)
            )
            and self.layer in {None, item.layer}
            and self.scope in {None, item.scope}
            and set(self.tags) <= set(item.tags)
            and (not self.by or self.by in {item.person, commit_author(item)})
            and (not self.whose or (item.person in OURS) == (self.whose == "mine"))
            and (self.trusted_at_ms is None or is_trusted(item, self.trusted_at_ms))
            and is_visible(item, self.owner, self.owner_tag)
            and (
                not self.files
                or any(
                    touches(path, wanted)
                    for path in (
                        *item.files_modified,
                        *item.files_read,
                        *(each.path for each in item.validity if each.path),
                    )
                    for wanted in self.files
                )
            )
        )


def commit_author(item: Item) -> str:
    """Return the name that git has of the author of a commit; "" of anything else."""
    return item.subtitle.partition(" by ")[2] if item.type == "commit" else ""


def is_visible(item: Item, owner: str, owner_tag: str = "") -> bool:
    """Return True if an owner may see an item: a personal one by its owner, or the owner's tag."""
    return item.scope != "personal" or "" != item.owner == owner or "" != owner_tag in item.tags


def is_trusted(item: Item, now_ms: int) -> bool:
    """Return True if an item may be put before a model that did not ask for it."""
    if item.suspicion or item.approval == "provisional":
        return False
    return item.expires_ms is None or item.expires_ms > now_ms


def touches(path: str, wanted: str) -> bool:
    """Return True if a path is, ends with, or lies in what is wanted.

    >>> [touches("src/recall/rank.py", each) for each in ("rank.py", "recall/", "src", "ank.py")]
    [True, True, True, False]
    """
    inside, around = f"/{path.strip('/')}/", f"/{wanted.strip('/')}/"
    return around in inside
