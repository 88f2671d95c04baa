"""What a project remembers of its story between events: frozen, bounded, stored as JSON.

Part of interpretation (step 6). Arcs span sessions, and clients that work side by side, so their
memory is the project's and not a session's. As with a session's state, nothing else carries
memory from one event to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from observer.core.model import Link
from observer.core.value import Value, reread
from observer.observations.failure_records import Alternative, Repair
from observer.observations.open_failures import OpenFailure
from observer.observations.session_state import GROUPS, ItemOrigin
from observer.outcomes.same_check import Invocation
from observer.shell.check import CheckIdentity
from observer.shell.command_forms import InvocationForm

EDITS = 120
FAILURES = 24
COMMITS = 60
ROOTS = 8
STASHES = 16
STASHED_MS = 2 * 3_600_000
EXPIRES_MS = 7 * 24 * 3_600_000
"""A failure that was not seen for so long is no part of today's work."""

STASHED = "aside"
DROPPED = "dropped"


class WorktreeBranch(Value):
    """On what a check ran: a work tree and the branch, or detached commit, that it showed."""

    root: str = ""
    branch: str = ""


class TrackedEdit(Value):
    """One change to the work tree, kept as long as it may explain a check that passes.

    `sort` is `edit`; `probe` for an edit that only prints; `command` for one that changes
    something; `undo` for what took back edits from `since` on. `item` is its observation.
    `reverted_by` is empty while the change is there, else `STASHED`, `DROPPED` or the hash of the
    commit that reverted it. `fixed` maps the programs whose failure it fixed to the items of those
    fixes. `remedy` is the kind of command, as `shell.fixers.remedy_of` returns it; `has_failed` if
    that command failed.
    """

    seq: int
    item: int
    ground: WorktreeBranch
    session: int | None = None
    sort: Literal["edit", "probe", "command", "undo"] = "edit"
    path: str = ""
    said: str = ""
    symbols: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_new: bool = False
    commit: str = ""
    reverted_by: str = ""
    since: int = 0
    remedy: str = ""
    has_failed: bool = False
    fixed: dict[str, int] = msgspec.field(default_factory=dict)


class TrackedFailure(Value):
    """A check that fails: since when, how it failed first and last, what must pass again.

    `tests` are the failing names while all of them are known; `place` is where the only error
    was, if there was only one. `items` are observations of its failures, the first one first.
    `checks` are what failed in it, where that is known; the pass of any of them answers it.
    `runs` counts the failing runs of this very check, and `files` are those that its output names.
    The edits up to `tried` left the failure as it was, those in `helped` mended a part of it.
    Where `unstarted` gives a reason, the command itself could not do its work: that says nothing
    about the code. `form` is how it was typed, `origin` the event that failed first.
    """

    of: Invocation
    head: str
    ground: WorktreeBranch
    seq: int
    last_seq: int
    last_ms: int
    items: tuple[int, ...]
    sessions: tuple[int | None, ...]
    runs: int = 1
    said: str = ""
    error: str = ""
    last_error: str = ""
    signature: str = ""
    tests: tuple[str, ...] = ()
    place: str = ""
    checks: tuple[CheckIdentity, ...] = ()
    files: tuple[str, ...] = ()
    tried: int = 0
    helped: tuple[int, ...] = ()
    unstarted: str = ""
    form: InvocationForm | None = None
    origin: ItemOrigin | None = None

    @property
    def is_red(self) -> bool:
        """Whether it says that the code fails a check."""
        return not self.unstarted and self.of.tool != "git"


class StashEntry(Value):
    """An entry of git's stash: the work tree it was made in, and the edits that were seen in it."""

    root: str
    edits: tuple[int, ...] = ()


class TrackedCommit(Value):
    """A commit as far as going back behind it needs it."""

    hash: str
    parent: str = ""
    paths: tuple[str, ...] = ()


class Rejection(Value):
    """The attempt that was told last as rejected: more of it may still be taken back."""

    origin: ItemOrigin
    last_seq: int
    edits: tuple[TrackedEdit, ...] = ()
    undone_by: tuple[int, ...] = ()


class ProjectState(Value):
    """The memory of a project. Oldest first; the oldest go when there is no room.

    `branches` and `heads` are by work tree. `loose` are commits that a reset has dissolved into
    changes, until the next commit takes these in. `linked` are the links of observations that may
    still grow. `failures` are the checks that are red, `tasks` what tasks turned out to check,
    `showing` the branches that work trees showed last. `stashes` are the entries of git's stash,
    the newest last, `aside` the work trees whose work is there, since when. `is_told` while a
    checkout was told by its hook and the command that made it is still to come.
    """

    edits: tuple[TrackedEdit, ...] = ()
    troubles: tuple[TrackedFailure, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    repairs: tuple[Repair, ...] = ()
    commits: tuple[TrackedCommit, ...] = ()
    branches: dict[str, str] = msgspec.field(default_factory=dict)
    heads: dict[str, str] = msgspec.field(default_factory=dict)
    loose: tuple[str, ...] = ()
    rejection: Rejection | None = None
    linked: dict[int, tuple[Link, ...]] = msgspec.field(default_factory=dict)
    failures: tuple[OpenFailure, ...] = ()
    tasks: dict[str, tuple[CheckIdentity, ...]] = msgspec.field(default_factory=dict)
    showing: dict[str, str] = msgspec.field(default_factory=dict)
    stashes: tuple[StashEntry, ...] = ()
    aside: dict[str, int] = msgspec.field(default_factory=dict)
    is_told: bool = False


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(ProjectState)


def encode(story: ProjectState) -> bytes:
    """Return the story as JSON; `decode` gives back an equal one."""
    return _ENCODER.encode(story)


def decode(data: bytes) -> ProjectState:
    """Return the story of a project; no bytes are a new one's.

    Raises:
        StoreUnavailable: the bytes are not a story of this version; a rebuild makes it anew.
    """
    return reread(_DECODER, data, of="project") if data else ProjectState()


def with_edit(story: ProjectState, edit: TrackedEdit) -> ProjectState:
    """Return the story with one more edit: it begins new work where the other was set aside."""
    after = replace(story, edits=(*story.edits, edit)[-EDITS:])
    return with_work(after, edit.ground.root) if edit.sort == "edit" else after


def map_edits(story: ProjectState, change: Callable[[TrackedEdit], TrackedEdit]) -> ProjectState:
    """Return the story with every edit replaced by what `change` makes of it."""
    return replace(story, edits=tuple(map(change, story.edits)))


def with_links(story: ProjectState, item: int, links: tuple[Link, ...]) -> ProjectState:
    """Return the story with the links of an observation."""
    kept = {**story.linked, item: links}
    return replace(story, linked=dict(list(kept.items())[-GROUPS:]))


def with_reverted(story: ProjectState, edits: Iterable[TrackedEdit], how: str) -> ProjectState:
    """Return the story with some of its edits gone, or there again if `how` is empty."""
    seqs = {edit.seq for edit in edits}
    return map_edits(story, lambda one: replace(one, reverted_by=how) if one.seq in seqs else one)


def is_stashed(story: ProjectState, root: str, at_ms: int) -> bool:
    """Tell whether the work of a work tree is set aside: what is checked now is not the work.

    Whoever has left it there for long has gone on with something else.
    """
    return at_ms - story.aside.get(root, -STASHED_MS - at_ms) <= STASHED_MS


def with_stash(
    story: ProjectState, root: str, edits: Iterable[TrackedEdit], at_ms: int
) -> ProjectState:
    """Return the story with edits set aside, or with work that nobody saw."""
    taken = list(edits)
    entry = StashEntry(root=root, edits=tuple(edit.seq for edit in taken))
    return replace(
        with_reverted(story, taken, STASHED),
        stashes=(*story.stashes, entry)[-STASHES:],
        aside=dict(list((story.aside | {root: at_ms}).items())[-ROOTS:]),
    )


def without_stash(
    story: ProjectState, root: str, to: str, *, keeps: bool
) -> tuple[ProjectState, list[TrackedEdit]]:
    """Return the story without an entry of git's stash, and its edits; `to` is as in `gitline.Act`.

    What they are then, there or dropped, is for the caller to say.
    """
    mine = [one for one in reversed(story.stashes) if one.root == root]
    number = int(to) if to.isdecimal() else 0
    entries = mine if to == "all" else mine[number : number + 1]
    seqs = {seq for entry in entries for seq in entry.edits}
    found = [edit for edit in story.edits if edit.seq in seqs and edit.reverted_by == STASHED]
    left = tuple(one for one in story.stashes if keeps or not any(one is each for each in entries))
    after = replace(story, stashes=left)
    return with_work(after, root) if not number else after, found


def with_work(story: ProjectState, root: str) -> ProjectState:
    """Return the story with a work tree that shows the work, not what is left without it."""
    if root not in story.aside:
        return story
    return replace(story, aside={one: at for one, at in story.aside.items() if one != root})


def commits_since(story: ProjectState, root: str, to: str) -> list[TrackedCommit]:
    """Return the commits that lie between HEAD and `to`, the newest first.

    None are known to lie there if the way back to `to` is not known. `to` is as in `gitline.Act`.
    """
    known = {commit.hash: commit for commit in story.commits}
    steps = int(to[1:] or 0) if to.startswith("~") else -1
    found: list[TrackedCommit] = []
    here = known.get(story.heads.get(root, ""))
    while here and len(found) != steps and not (steps < 0 and here.hash.startswith(to or "-")):
        found.append(here)
        here = known.get(here.parent)
    is_there = len(found) == steps if steps >= 0 else _ends_at(found, here, to)
    return found if is_there else []


def _ends_at(found: list[TrackedCommit], here: TrackedCommit | None, to: str) -> bool:
    return bool(to) and (here is not None or any(one.parent.startswith(to) for one in found[-1:]))


def with_branch(
    story: ProjectState, root: str, branch: str, head: str, *, is_same: bool
) -> ProjectState:
    """Return the story with a work tree on another branch.

    Where the commit stays the same, all goes along; else only what is not committed does.
    """
    here = WorktreeBranch(root=root, branch=story.branches.get(root, ""))
    with_work = WorktreeBranch(root=root, branch=branch)
    troubles = story.troubles
    if is_same:
        troubles = tuple(
            replace(one, ground=with_work) if one.ground == here else one for one in troubles
        )
    after = map_edits(
        story,
        lambda one: (
            replace(one, ground=with_work)
            if one.ground == here and (is_same or not one.commit)
            else one
        ),
    )
    return replace(
        after,
        troubles=troubles,
        branches=_newest(story.branches | {root: branch}),
        heads=_newest(story.heads | {root: head}) if head else story.heads,
    )


def with_commit(
    story: ProjectState, root: str, commit: TrackedCommit, paths: Container[str]
) -> ProjectState:
    """Return the story with a new commit at HEAD, which takes in what was changed in its files."""
    after = map_edits(
        story,
        lambda one: (
            replace(one, commit=commit.hash)
            if one.path in paths
            and one.ground.root == root
            and not one.commit
            and not one.reverted_by
            else one
        ),
    )
    commits = (*after.commits, commit)[-COMMITS:]
    return replace(with_head(after, root, commit.hash), commits=commits, loose=())


def with_head(story: ProjectState, root: str, head: str) -> ProjectState:
    """Return the story with HEAD of a work tree at a commit."""
    return replace(story, heads=_newest(story.heads | {root: head}))


def _newest(entries: dict[str, str]) -> dict[str, str]:
    return dict(list(entries.items())[-ROOTS:])


def worktree_of(story: ProjectState, root: str) -> WorktreeBranch:
    """Return what a work tree shows."""
    return WorktreeBranch(root=root, branch=story.branches.get(root, ""))
