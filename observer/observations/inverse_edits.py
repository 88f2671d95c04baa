"""Detect reverted changes: by a git command, or a commit that reverts another.

Links the observation that reverted edits to those edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from observer.core.events import Command, Rewrite
from observer.core.model import Item, Link, Recorded
from observer.core.text import distinct, is_within, one_line
from observer.core.value import Value
from observer.observations import project_state
from observer.observations.drafts import order_of
from observer.observations.git_commands import GitOperation, operations_of
from observer.observations.project_state import (
    DROPPED,
    Items,
    ProjectState,
    Step,
    TrackedEdit,
)


class Reversal(Value):
    """How edits were reverted: `how` in a few words, and the value of `TrackedEdit.reverted_by`.

    `links` name what else was reverted, such as commits.
    """

    how: str
    reverted_by: str = DROPPED
    links: tuple[Link, ...] = ()


def with_undone(
    known: ProjectState,
    recorded: Recorded,
    taken: Sequence[TrackedEdit],
    made: Item,
    undo: Reversal,
) -> Step:
    """Mark edits as reverted by the event whose observation is `made`.

    Returns:
        The state; `made` with links to what it reverted.
    """
    links = (*(Link(kind="reverts", target=item) for item in _items(taken, made)), *undo.links)
    items = (replace(made, links=(*made.links, *links)),) if links else ()
    if not taken:
        return known, items
    after = project_state.with_reverted(known, taken, undo.reverted_by)
    since = min(edit.seq for edit in taken)
    return _with_undo(after, recorded, made, how=undo.how, since=since, path=_path(taken)), items


def _with_undo(
    known: ProjectState, recorded: Recorded, made: Item, *, how: str, since: int, path: str
) -> ProjectState:
    """Track a reversal as an edit of its own: it may be why a check passes."""
    undo = TrackedEdit(
        seq=order_of(recorded),
        item=made.id,
        worktree=project_state.worktree_of(known, recorded.root),
        session=recorded.session_id,
        kind="undo",
        path=path,
        said=one_line(how, 200),
        since=since,
    )
    return project_state.with_edit(known, undo)


def _path(taken: Sequence[TrackedEdit]) -> str:
    paths = {edit.path for edit in taken}
    return paths.pop() if len(paths) == 1 else ""


def _items(taken: Iterable[TrackedEdit], made: Item) -> list[int]:
    """Return the observations of these edits, then the fixes that they were part of."""
    edits = dict.fromkeys(edit.item for edit in taken)
    fixes = dict.fromkeys(fix for edit in taken for fix in edit.fixed.values())
    return [item for item in (*edits, *fixes) if item != made.id]


def undone_by_revert(known: ProjectState, hashes: Sequence[str]) -> list[TrackedEdit]:
    """Return the edits of commits that a commit reverts."""
    return [
        edit
        for edit in known.edits
        if edit.commit and not edit.reverted_by and edit.commit.startswith(tuple(hashes))
    ]


def restored_by_revert(known: ProjectState, hashes: Sequence[str]) -> list[TrackedEdit]:
    """Return the edits that are restored by reverting the commits that had reverted them."""
    return [
        edit
        for edit in known.edits
        if edit.reverted_by.startswith(tuple(hashes)) and edit.reverted_by
    ]


def with_git_command(
    known: ProjectState, recorded: Recorded, body: Command, made: Item, *, is_ok: bool
) -> Step:
    """Apply what a command line does to the work tree by git, or `rm`, to the state."""
    items: Items = ()
    for operation, how in operations_of(recorded, body, is_ok=is_ok):
        known, more = _with_operation(known, recorded, operation, made, how)
        made, items = _merged(made, items, more)
    return known, items


def _merged(made: Item, items: Items, more: Items) -> tuple[Item, Items]:
    """Return the items of several operations of one line, with the links of `made` merged."""
    for item in (item for item in more if item.id == made.id):
        made = replace(item, links=(*made.links, *item.links))
    every = {item.id: item for item in (*items, *more, made)}
    return made, tuple(every.values())


def _with_operation(
    known: ProjectState, recorded: Recorded, operation: GitOperation, made: Item, how: str
) -> Step:
    root = recorded.root
    match operation.kind:
        case "switch" | "branch" if known.is_checkout_reported:
            return known, ()
        case "switch" | "branch":
            return project_state.with_branch(
                known, root, operation.target, "", is_same=operation.kind == "branch"
            ), ()
        case "stash":
            return project_state.with_stash(known, root, recorded.event.at_ms), ()
        case "unstash" | "drop":
            return project_state.with_work(known, root), ()
        case "uncommit":
            return _uncommit(known, root, operation, made)
    return _reverted(known, recorded, operation, made, how)


def _reverted(
    known: ProjectState, recorded: Recorded, operation: GitOperation, made: Item, how: str
) -> Step:
    root = recorded.root
    commits = (
        [one.hash for one in project_state.commits_since(known, root, operation.target)]
        if operation.target
        else []
    )
    committed = [
        edit
        for edit in known.edits
        if edit.commit in commits and not edit.reverted_by and is_within(edit.path, operation.paths)
    ]
    taken = sorted((*_uncommitted(known, root, operation), *committed), key=lambda edit: edit.seq)
    links: tuple[Link, ...] = ()
    if operation.kind == "reset" and commits:
        links = tuple(Link(kind="reverts", title=one) for one in commits)
        parent = next(one.parent for one in known.commits if one.hash == commits[-1])
        known = project_state.with_head(known, root, parent)
    after, items = with_undone(known, recorded, taken, made, Reversal(how=how, links=links))
    if not taken and (operation.paths or commits):
        # It reverted changes older than the state, which may be why a check passes.
        path = operation.paths[0] if len(operation.paths) == 1 else ""
        after = _with_undo(after, recorded, made, how=how, since=0, path=path)
    return after, items


def _uncommit(known: ProjectState, root: str, operation: GitOperation, made: Item) -> Step:
    commits = project_state.commits_since(known, root, operation.target)
    if not commits:
        return known, ()
    hashes = tuple(one.hash for one in commits)
    after = project_state.map_edits(
        known, lambda one: replace(one, commit="") if one.commit in hashes else one
    )
    after = project_state.with_head(after, root, commits[-1].parent)
    links = tuple(Link(kind="reverts", title=one) for one in hashes)
    dissolved = distinct((*known.dissolved, *hashes), project_state.COMMITS)
    return replace(after, dissolved=dissolved), (replace(made, links=(*made.links, *links)),)


def rewritten(recorded: Recorded, made: Iterable[Item]) -> dict[str, str]:
    """Return what became of commits by an event whose items are `made`: new hashes by old ones.

    A commit that was reset or reverted became nothing, "".
    """
    if isinstance(recorded.event.body, Rewrite):
        return dict(recorded.event.body.pairs)
    links = (link for item in made for link in item.links)
    return {link.title: "" for link in links if link.kind == "reverts" and link.title}


def taken_back(before: ProjectState, after: ProjectState) -> dict[int, set[str]]:
    """Return the files, by session, of which everything that was done was taken back just now."""
    if before.edits is after.edits:
        return {}
    was = {edit.seq for edit in before.edits if edit.reverted_by}
    there: set[tuple[int, str]] = set()
    gone: set[tuple[int, str]] = set()
    for edit in after.edits:
        if edit.session and edit.path and edit.kind != "undo" and edit.seq not in was:
            (gone if edit.reverted_by else there).add((edit.session, edit.path))
    found: dict[int, set[str]] = {}
    for session, path in gone - there:
        found.setdefault(session, set()).add(path)
    return found


def _uncommitted(known: ProjectState, root: str, operation: GitOperation) -> list[TrackedEdit]:
    """Return the uncommitted edits that the operation affects.

    Files that were made since the last commit are not git's: only `clean` takes them away.
    """
    live = [
        edit
        for edit in known.edits
        if edit.worktree.root == root and edit.path and not edit.reverted_by and not edit.commit
    ]
    new = {edit.path for edit in live if edit.is_new}
    return [
        edit
        for edit in live
        if edit.kind != "undo"
        and (edit.path in new) == (operation.kind == "clean")
        and is_within(edit.path, operation.paths)
    ]
