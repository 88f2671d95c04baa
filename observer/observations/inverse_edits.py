"""What takes changes back: an edit the other way, git's commands, a commit that reverts one.

Part of interpretation (step 6), of the arcs: finds the edits that go, links to them what took them
back, and tells those that a failing run had followed as rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from observer.code import edits as marks
from observer.core.events import Command
from observer.core.model import Item, Link, Recorded
from observer.core.text import distinct, is_within, one_line
from observer.core.value import Value
from observer.observations import fix_text, project_state
from observer.observations.analysis import origin_of
from observer.observations.git_commands import GitOperation, operations_of
from observer.observations.project_state import (
    DROPPED,
    ProjectState,
    Rejection,
    TrackedEdit,
    TrackedFailure,
)
from observer.observations.relatedness import is_related

Items = tuple[Item, ...]
Step = tuple[ProjectState, Items]


class Reversal(Value):
    """How edits were taken back: `how` in a few words, and the value of `TrackedEdit.reverted_by`.

    `links` name what else was taken back, such as commits.
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
    """Take edits back, by the event that `made` tells of.

    Returns `made` with links to what it took back, and the rejected attempt if this was one.
    """
    links = (*(Link(kind="reverts", target=item) for item in _items(taken, made)), *undo.links)
    items = (replace(made, links=links),) if links else ()
    if not taken:
        return known, items
    after = project_state.with_reverted(known, taken, undo.reverted_by)
    rejected = _rejected(known, recorded, taken, undo.how, made)
    if rejected:
        after = replace(after, rejection=rejected[0])
        items = (*items, rejected[1])
    since = min(edit.seq for edit in taken)
    return _noted(after, recorded, made, how=undo.how, since=since, path=_path(taken)), items


def _noted(
    known: ProjectState, recorded: Recorded, made: Item, *, how: str, since: int, path: str
) -> ProjectState:
    """Keep in mind that something was taken back: a check may pass for it."""
    undo = TrackedEdit(
        seq=recorded.seq,
        item=made.id,
        ground=project_state.worktree_of(known, recorded.root),
        session=recorded.session_id,
        sort="undo",
        path=path,
        said=one_line(how, 200),
        since=since,
    )
    return project_state.with_edit(known, undo)


def _path(taken: Sequence[TrackedEdit]) -> str:
    paths = {edit.path for edit in taken}
    return paths.pop() if len(paths) == 1 else ""


def _items(taken: Iterable[TrackedEdit], made: Item) -> list[int]:
    """Return what tells of these edits, then what they had fixed."""
    edits = dict.fromkeys(edit.item for edit in taken)
    fixes = dict.fromkeys(fix for edit in taken for fix in edit.fixed.values())
    return [item for item in (*edits, *fixes) if item != made.id]


def _rejected(
    known: ProjectState, recorded: Recorded, taken: Sequence[TrackedEdit], how: str, made: Item
) -> tuple[Rejection, Item] | None:
    """Tell what was tried and is taken back while the check fails; more of one attempt joins it."""
    here = project_state.worktree_of(known, recorded.root)
    for trouble in known.troubles:
        tried = tuple(edit for edit in taken if _is_tried(edit, trouble))
        if trouble.ground != here or not tried:
            continue
        before = known.rejection
        if before is None or before.last_seq != trouble.last_seq:
            before = Rejection(origin=origin_of(recorded), last_seq=trouble.last_seq)
        rejection = replace(
            before,
            edits=(*before.edits, *tried)[-project_state.EDITS :],
            undone_by=distinct_ids((*before.undone_by, made.id)),
        )
        return rejection, fix_text.rejection_item(rejection, trouble, recorded, how)
    return None


def distinct_ids(ids: Iterable[int]) -> tuple[int, ...]:
    """Return each id once, the first few."""
    return tuple(dict.fromkeys(ids))[:20]


def _is_tried(edit: TrackedEdit, trouble: TrackedFailure) -> bool:
    return (
        edit.sort == "edit"
        and trouble.seq < edit.seq < trouble.last_seq
        and is_related(edit, trouble)
    )


def undone_by_write(
    known: ProjectState, root: str, path: str, made_marks: Sequence[str], *, is_gone: bool
) -> list[TrackedEdit]:
    """Return the edits of a file that a write takes back as a whole."""
    mine = [
        edit
        for edit in known.edits
        if edit.path == path
        and edit.ground.root == root
        and not edit.reverted_by
        and edit.sort != "undo"
    ]
    if is_gone:
        return mine if any(edit.is_new and not edit.commit for edit in mine) else []
    found: list[TrackedEdit] = []
    for mark in made_marks:
        if mark.startswith("="):
            return _since(mine, mark)
        wanted = marks.undoing(mark)
        found += [edit for edit in reversed(mine) if wanted in edit.marks and edit not in found][:1]
    goes = {mark for edit in found for mark in edit.marks}
    return found if goes and goes == set(map(marks.undoing, made_marks)) else []


def _since(mine: list[TrackedEdit], mark: str) -> list[TrackedEdit]:
    """Return the edits since the file had the content of this mark, if it had."""
    had = [place for place, edit in enumerate(mine) if mark in edit.marks]
    return mine[had[-1] + 1 :] if had else []


def undone_by_revert(known: ProjectState, hashes: Sequence[str]) -> list[TrackedEdit]:
    """Return the edits of commits that a commit reverts."""
    return [
        edit
        for edit in known.edits
        if edit.commit and not edit.reverted_by and edit.commit.startswith(tuple(hashes))
    ]


def restored_by_revert(known: ProjectState, hashes: Sequence[str]) -> list[TrackedEdit]:
    """Return the edits that a reverted commit had reverted itself."""
    return [
        edit
        for edit in known.edits
        if edit.reverted_by.startswith(tuple(hashes)) and edit.reverted_by
    ]


def with_git_command(
    known: ProjectState, recorded: Recorded, body: Command, made: Item, *, is_ok: bool
) -> Step:
    """Do to the story what a command line does by git to the work tree."""
    items: Items = ()
    for act, how in operations_of(recorded, body, is_ok=is_ok):
        known, told = _acted(known, recorded, act, made, how)
        made, items = _merged(made, items, told)
    return known, items


def _merged(made: Item, items: Items, told: Items) -> tuple[Item, Items]:
    """Gather what several acts of one line told; the links of `made` add up."""
    every = {item.id: item for item in items}
    for item in told:
        if item.id == made.id:
            made = replace(item, links=(*made.links, *item.links))
            every[item.id] = made
        else:
            every[item.id] = item
    return made, tuple(every.values())


def _acted(
    known: ProjectState, recorded: Recorded, act: GitOperation, made: Item, how: str
) -> Step:
    root = recorded.root
    match act.deed:
        case "switch" | "branch" if known.is_told:
            return known, ()
        case "switch" | "branch":
            return project_state.with_branch(
                known, root, act.to, "", is_same=act.deed == "branch"
            ), ()
        case "aside":
            # Of what is staged only a session knows: then the edits stay as they are.
            edits = _loose(known, root, act) if act.scope in ("", "new") else []
            return project_state.with_stash(known, root, edits, recorded.event.at_ms), ()
        case "back":
            after, edits = project_state.without_stash(known, root, act.to, keeps=act.keeps)
            return project_state.with_reverted(after, edits, ""), ()
        case "uncommit":
            return _dissolved(known, root, act), ()
    return _taken_back(known, recorded, act, made, how)


def _taken_back(
    known: ProjectState, recorded: Recorded, act: GitOperation, made: Item, how: str
) -> Step:
    root = recorded.root
    if act.deed == "drop":
        known, edits = project_state.without_stash(known, root, act.to, keeps=False)
        return with_undone(known, recorded, edits, made, Reversal(how=how))
    commits = (
        [one.hash for one in project_state.commits_since(known, root, act.to)] if act.to else []
    )
    committed = [
        edit
        for edit in known.edits
        if edit.commit in commits and not edit.reverted_by and is_within(edit.path, act.paths)
    ]
    taken = sorted((*_loose(known, root, act), *committed), key=lambda edit: edit.seq)
    links: tuple[Link, ...] = ()
    if act.deed == "reset" and commits:
        links = tuple(Link(kind="reverts", title=one) for one in commits)
        parent = next(one.parent for one in known.commits if one.hash == commits[-1])
        known = project_state.with_head(known, root, parent)
    after, items = with_undone(known, recorded, taken, made, Reversal(how=how, links=links))
    if not taken and (act.paths or commits):
        # It took back what was there before anything was seen, and a check may pass for it.
        path = act.paths[0] if len(act.paths) == 1 else ""
        after = _noted(after, recorded, made, how=how, since=0, path=path)
    return after, items


def _dissolved(known: ProjectState, root: str, act: GitOperation) -> ProjectState:
    commits = project_state.commits_since(known, root, act.to)
    if not commits:
        return known
    hashes = tuple(one.hash for one in commits)
    after = project_state.map_edits(
        known, lambda one: replace(one, commit="") if one.commit in hashes else one
    )
    after = project_state.with_head(after, root, commits[-1].parent)
    return replace(after, loose=distinct((*known.loose, *hashes), project_state.COMMITS))


def _loose(known: ProjectState, root: str, act: GitOperation) -> list[TrackedEdit]:
    """Return the edits that no commit holds and the act reaches.

    Files that were made since the last commit are not git's: only `clean` takes them away.
    """
    live = [
        edit
        for edit in known.edits
        if edit.ground.root == root and edit.path and not edit.reverted_by and not edit.commit
    ]
    new = {edit.path for edit in live if edit.is_new}
    return [
        edit
        for edit in live
        if edit.sort != "undo"
        and (act.scope == "new" or (edit.path in new) == (act.deed == "clean"))
        and is_within(edit.path, act.paths)
    ]
