"""The state of a project between events: frozen, bounded, stored as compressed JSON.

A failure and its fix may lie in different sessions and clients, so they are tracked for the
project. Every function returns a new `ProjectState`; as with `session_state`, nothing else is
carried from one event to the next. In all of them `root` is the folder of a work tree, and `seq`
a number of `drafts.order_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from observer.commands.check import CheckIdentity
from observer.commands.command_line import InvocationForm
from observer.core.model import Item
from observer.core.value import Value, decode_state, encode_state, newest
from observer.observations.drafts import ItemOrigin
from observer.observations.open_failures import OpenFailure

EDITS = 120
ALTERNATIVES = 40
DROPPED = "dropped"
"""Value of `TrackedEdit.reverted_by` where no commit reverted the edit."""
COMMITS = 60
ROOTS = 8
STASHED_MS = 2 * 3_600_000
"""Work that has been in git's stash for longer counts as given up for other work."""


class TrackedEdit(Value):
    """One change to the work tree, kept as long as it may explain a check that passes.

    `kind` is `edit`; `command` for one that changes something; `undo` for what took back edits from
    `since` on. `item` is its observation. `reverted_by` is empty while the change is there, else
    `DROPPED` or the hash of the commit that reverted it. `fixed` maps the programs whose failure it
    fixed to the items of those fixes. `remedy` is the kind of command, a `FixKind`; `has_failed` if
    that command failed. It was made in the work tree `root`, on the branch.
    """

    seq: int
    item: int
    root: str = ""
    branch: str = ""
    session: int | None = None
    kind: Literal["edit", "command", "undo"] = "edit"
    path: str = ""
    said: str = ""
    symbols: tuple[str, ...] = ()
    is_new: bool = False
    commit: str = ""
    reverted_by: str = ""
    since: int = 0
    remedy: str = ""
    has_failed: bool = False
    fixed: dict[str, int] = msgspec.field(default_factory=dict)


class Alternative(Value):
    """A command that works where another form of it does not, and how often that was met.

    `reason` is as in `OpenFailure.unstarted`, empty if the failed form only lacks a setting.
    `pairs` are the observations of failure and success, of the newest occurrences. `is_refuted`
    if the form that failed has worked since.
    """

    failed: InvocationForm
    worked: InvocationForm
    origin: ItemOrigin
    reason: str = ""
    error: str = ""
    signature: str = ""
    times: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    is_refuted: bool = False


class TrackedCommit(Value):
    """A commit, with what is needed to undo it: its first parent and its files."""

    hash: str
    parent: str = ""
    paths: tuple[str, ...] = ()


class ProjectState(Value):
    """All that is known of a project. Sequences are oldest first and drop the oldest.

    `failures` wait for a pass, or another command in their place. `branches`, `heads` and
    `stashed_at_ms` are keyed by work tree; the last holds those whose work is in git's stash.
    `dissolved` are commits that a reset turned into uncommitted changes, until the next commit,
    `subjects` those of the newest commits, by hash. `tasks` are the checks that a task
    (`make test`) turned out to run. `heard_ms` and `imported_ms` are as of `core.routes.Order`,
    `is_out_of_order` once an event came late, of which the state knows nothing.
    """

    edits: tuple[TrackedEdit, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    commits: tuple[TrackedCommit, ...] = ()
    branches: dict[str, str] = msgspec.field(default_factory=dict)
    heads: dict[str, str] = msgspec.field(default_factory=dict)
    dissolved: tuple[str, ...] = ()
    subjects: dict[str, str] = msgspec.field(default_factory=dict)
    failures: tuple[OpenFailure, ...] = ()
    tasks: dict[str, tuple[CheckIdentity, ...]] = msgspec.field(default_factory=dict)
    stashed_at_ms: dict[str, int] = msgspec.field(default_factory=dict)
    heard_ms: int = 0
    imported_ms: int = 0
    is_out_of_order: bool = False


Items = tuple[Item, ...]
Step = tuple[ProjectState, Items]
"""What a step of the reducer returns: the new state, and the items to insert or replace."""
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(ProjectState)


def encode(state: ProjectState) -> bytes:
    """Return the state as it is stored; `decode` gives back an equal one."""
    return encode_state(_ENCODER, state)


def decode(data: bytes) -> ProjectState:
    """Return the stored state of a project; the empty state for no bytes.

    Raises:
        StoreUnavailable: the bytes are not a state of this version; a rebuild recreates it.
    """
    return decode_state(_DECODER, data, of="project") if data else ProjectState()


def with_edit(state: ProjectState, edit: TrackedEdit) -> ProjectState:
    """Return the state with one more edit; an edit of a file ends the stashed period."""
    after = replace(state, edits=(*state.edits, edit)[-EDITS:])
    return with_stash(after, edit.root, None) if edit.kind == "edit" else after


def map_edits(state: ProjectState, change: Callable[[TrackedEdit], TrackedEdit]) -> ProjectState:
    """Return the state with every edit replaced by what `change` makes of it."""
    return replace(state, edits=tuple(map(change, state.edits)))


def with_reverted(state: ProjectState, edits: Iterable[TrackedEdit], how: str) -> ProjectState:
    """Return the state with `reverted_by` of some edits set to `how`; "" restores them."""
    seqs = {edit.seq for edit in edits}
    return map_edits(state, lambda one: replace(one, reverted_by=how) if one.seq in seqs else one)


def is_stashed(state: ProjectState, root: str, at_ms: int) -> bool:
    """Return True if a work tree's changes are stashed: checks run without them meanwhile."""
    return at_ms - state.stashed_at_ms.get(root, -STASHED_MS - at_ms) <= STASHED_MS


def with_stash(state: ProjectState, root: str, at_ms: int | None) -> ProjectState:
    """Return the state with the changes of a work tree in git's stash since a time, or not."""
    others = {one: at for one, at in state.stashed_at_ms.items() if one != root}
    stashed = others if at_ms is None else newest(others | {root: at_ms}, ROOTS)
    return state if stashed == state.stashed_at_ms else replace(state, stashed_at_ms=stashed)


def commits_since(state: ProjectState, root: str, to: str) -> list[TrackedCommit]:
    """Return the commits after `to` up to HEAD, newest first.

    None if the history back to `to` is not known. `to` is as in `GitOperation.target`.
    """
    known = {commit.hash: commit for commit in state.commits}
    steps = int(to[1:] or 0) if to.startswith("~") else -1
    found: list[TrackedCommit] = []
    here = known.get(state.heads.get(root, ""))
    while here and len(found) != steps and not (steps < 0 and here.hash.startswith(to)):
        found.append(here)
        here = known.get(here.parent)
    is_at = here or (found and found[-1].parent.startswith(to))
    return found if (len(found) == steps if steps >= 0 else is_at) else []


def with_branch(
    state: ProjectState, root: str, branch: str, head: str, *, is_same: bool
) -> ProjectState:
    """Return the state after a work tree has switched to a branch.

    If the commit `is_same`, failures and edits follow; otherwise only uncommitted edits do.
    """
    before = (root, state.branches.get(root, ""))

    def moved(one: TrackedEdit) -> TrackedEdit:
        goes = (one.root, one.branch) == before and (is_same or not one.commit)
        return replace(one, branch=branch) if goes else one

    failures = (
        replace(one, branch=branch) if is_same and (one.root, one.branch) == before else one
        for one in state.failures
    )
    branches = newest(state.branches | {root: branch}, ROOTS)
    after = replace(map_edits(state, moved), failures=tuple(failures), branches=branches)
    return with_head(after, root, head) if head else after


def with_commit(
    state: ProjectState, root: str, commit: TrackedCommit, paths: Container[str]
) -> ProjectState:
    """Return the state with a new commit at HEAD that holds the pending edits of its `paths`."""

    def taken(one: TrackedEdit) -> TrackedEdit:
        is_pending = not (one.commit or one.reverted_by)
        is_in = is_pending and one.path in paths and one.root == root
        return replace(one, commit=commit.hash) if is_in else one

    commits = (*state.commits, commit)[-COMMITS:]
    after = replace(map_edits(state, taken), commits=commits, dissolved=())
    return with_head(after, root, commit.hash)


def with_head(state: ProjectState, root: str, head: str) -> ProjectState:
    """Return the state with HEAD of a work tree at a commit."""
    return replace(state, heads=newest(state.heads | {root: head}, ROOTS))
