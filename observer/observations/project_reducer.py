"""Reduce a project's events to its fixes, open failures, and what was taken back.

A left fold over the events of all sessions of a project, which links the observations that the
sessions' own reducers made. The rules:

- A fix is a failure, then changes, then a pass of the same check (`open_failures`) on the same
  branch. A pass without a change since the last failure is not a fix. The changes that count are
  those related to the failure (`failure_tracker.causes_of`), which may revert what broke the check.
- A command that could not run, and works in another form, is a fix by itself.
- A change fixes a program once: a wider run that passes later adds nothing.
- Checks that run while work is in git's stash say nothing about that work.
- A new branch at the same commit keeps the failures; another branch has its own.
- What took back edits, a git command or a commit that reverts another, is linked to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from observer.core.events import AnyBody, Checkout, Command, Commit, FileWrite, Rewrite
from observer.core.model import Item, Link, Recorded, item_id
from observer.core.routes import Order
from observer.core.text import distinct, is_within, one_line, relative
from observer.core.value import newest
from observer.observations import failure_tracker, open_failures, project_state, session_commits
from observer.observations.analysis import analysis_of
from observer.observations.drafts import FAILED, REPEATS, order_of
from observer.observations.project_state import ProjectState, Step, TrackedCommit, TrackedEdit
from observer.observations.session_commits import GitOperation

_PULLED = 50
_HOOKS = ("|git commit",)
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_PAIRS = 40
_PATHS = 20
_SYMBOLS = 6


class ProjectReducer:
    """Reduces one project's events within a batch; `data` is its state as stored."""

    def __init__(self, data: bytes) -> None:
        self._state = self._stored = project_state.decode(data)
        self._order = Order(self._state.heard_ms, self._state.imported_ms)

    def is_late(self, recorded: Recorded) -> bool:
        """Take the time of the next event; return True if it is not to be added.

        It came after what happened later, and says nothing of what is so now: its project has to be
        derived anew.
        """
        # Those that have an `order` are taken in it.
        is_late = self._order.is_late(recorded.event) and not recorded.order
        if is_late and not self._state.is_out_of_order:
            self._state = replace(self._state, is_out_of_order=True)
        return is_late

    def add(self, recorded: Recorded, made: project_state.Items) -> project_state.Items:
        """Add the next event, as `SessionReducer.add_paired` returned it, and its observations.

        Returns:
            The items to insert or replace besides those: fixes, and the observations that have
            gained links.
        """
        body = recorded.event.body
        step = _STEPS.get(type(body))
        if step is None or not made:
            return ()
        self._state, items = step(_with_branch(self._state, recorded), recorded, body, made[0])
        return items

    @property
    def state(self) -> ProjectState:
        """What was known of the project after the last event that was added."""
        return self._state

    def changed_state(self) -> bytes | None:
        """Return the state with everything added so far, encoded; None if it has not changed."""
        order = self._order
        now = replace(self._state, heard_ms=order.heard_ms, imported_ms=order.imported_ms)
        return project_state.encode(now) if now != self._stored else None


def _with_branch(known: ProjectState, recorded: Recorded) -> ProjectState:
    """Note the branch checked out in a work tree, and whether it began where the last one was."""
    body, root = recorded.event.body, recorded.root
    branch, head = one_line(recorded.branch, 250), ""
    before = known.branches.get(root)
    is_same = before is None
    if isinstance(body, Checkout):
        branch, head = one_line(body.branch or body.new[:10], 250), body.new[:64]
        is_same = is_same or (bool(body.old) and body.old == body.new)
    if before == branch:
        return project_state.with_head(known, root, head) if head else known
    if isinstance(body, Command) and not is_same:
        done = session_commits.operations_of(recorded, body, is_ok=True)
        is_same = any(one.kind == "branch" and one.target == branch for one, _ in done)
    return project_state.with_branch(known, root, branch, head, is_same=is_same)


def _write(known: ProjectState, recorded: Recorded, body: FileWrite, made: Item) -> Step:
    if body.error:
        return known, ()
    root, change = recorded.root, analysis_of(recorded).change
    path = relative(body.path, root, recorded.event.cwd)
    left = open_failures.after_change(known.failures, root, [path])
    if body.operation == "delete":
        left = open_failures.after_removal(left, root, [path])
    edit = TrackedEdit(
        seq=order_of(recorded),
        item=made.id,
        root=root,
        branch=known.branches[root],
        session=recorded.session_id,
        path=path,
        said=change.became,
        symbols=distinct(change.symbols, _SYMBOLS),
        is_new=body.operation == "create",
    )
    return project_state.with_edit(replace(known, failures=left), edit), ()


def _commit(known: ProjectState, recorded: Recorded, body: Commit, made: Item) -> Step:
    root = recorded.root
    reverted = distinct(_REVERTS.findall(body.message), _PAIRS)
    links = [Link(kind="reverts", title=title) for title in reverted]
    brought = "".join(body.parents[1:2])[:64]
    is_repeated = brought and known.subjects.get(brought, "").startswith(made.title.rstrip("…"))
    if is_repeated:  # a merge of one commit, by a forge: that one says the same
        made = replace(made, kind="record", category=REPEATS)
        links.append(Link(kind="brings", title=brought))
    subjects = {**known.subjects, body.hash[:64]: one_line(body.subject, 200)}
    known = replace(known, subjects=newest(subjects, project_state.COMMITS))
    if body.action == "import":
        pulled = [file.path for file in body.files[:_PULLED]]
        left = open_failures.after_change(known.failures, root, pulled)
        known = replace(known, failures=left)
        return known, (replace(made, links=tuple(links)),) if links else ()
    if recorded.session_id is None:  # a person, whose hooks have passed
        hooks = [one for key, checks in known.tasks.items() if key in _HOOKS for one in checks]
        left = open_failures.after_commit(known.failures, known.branches[root], hooks)
        known = replace(known, failures=left)
    paths = dict.fromkeys(file.path for file in body.files)
    links += (  # the dissolved commits whose files it holds
        Link(kind="replaces", title=one.hash)
        for one in known.commits
        if one.hash in known.dissolved and not paths.keys().isdisjoint(one.paths)
    )
    commit = TrackedCommit(
        hash=body.hash[:64], parent="".join(body.parents[:1])[:64], paths=distinct(paths, _PATHS)
    )
    hashes = tuple(reverted)
    # Reverting what had reverted edits brings them back.
    restored = [one for one in known.edits if one.reverted_by.startswith(hashes)]
    after = project_state.with_reverted(known, restored, "")
    live = [one for one in after.edits if not one.reverted_by]
    taken = [one for one in live if one.commit.startswith(hashes)]
    made = replace(made, links=(*made.links, *links)) if links else made
    after, items = _with_undone(
        after, recorded, taken, made, f"reverted in {commit.hash[:10]}", reverted_by=commit.hash
    )
    items = items or ((made,) if links else ())
    return project_state.with_commit(after, root, commit, paths), items


def _rewrite(known: ProjectState, recorded: Recorded, body: Rewrite, made: Item) -> Step:
    pairs = dict(body.pairs[:_PAIRS])

    def now(old: str) -> str:
        return pairs.get(old, old)

    left = (one for one in known.commits if now(one.hash) or not one.hash)
    commits = [replace(one, hash=now(one.hash), parent=now(one.parent)) for one in left]
    after = project_state.map_edits(known, lambda one: replace(one, commit=now(one.commit)))
    head = known.heads.get(recorded.root, "")
    after = replace(after, commits=tuple({one.hash: one for one in commits}.values()))
    if head in pairs:
        after = project_state.with_head(after, recorded.root, pairs[head])
    links = [Link(kind="replaces", title=old) for old in pairs]
    links += [Link(kind="makes", title=new) for new in dict.fromkeys(pairs.values()) if new]
    return after, (replace(made, links=tuple(links)),)


def _command(known: ProjectState, recorded: Recorded, body: Command, made: Item) -> Step:
    result, root = analysis_of(recorded).result, recorded.root
    after, undone = known, dict[int, Item]()
    for operation, how in session_commits.operations_of(
        recorded, body, is_ok=result.ok is not False
    ):
        after, items = _with_operation(after, recorded, operation, made, how)
        undone |= {item.id: item for item in items}
        made = undone.get(made.id, made)
    if project_state.is_stashed(after, root, recorded.event.at_ms):
        return after, tuple(undone.values())
    if made.category != FAILED and made.folded > 1:  # links name the run, not its record
        made = replace(made, id=item_id(recorded.seq))
    ran = open_failures.ended_command(
        after.tasks, recorded, body, result, made.id, after.branches[root]
    )
    after, items = failure_tracker.with_command(after, ran)
    return after, (*undone.values(), *items)


def _with_operation(
    known: ProjectState, recorded: Recorded, operation: GitOperation, made: Item, how: str
) -> Step:
    """Return the state after git, or `rm`, changed the work tree, and `made` with what it undid.

    Nothing is red of what it discards. Files that were made since the last commit are not git's:
    only `clean` takes them away.
    """
    root, kind, left = recorded.root, operation.kind, known.failures
    is_given_up = kind == "drop" and project_state.is_stashed(known, root, recorded.event.at_ms)
    if kind == "clean":
        left = open_failures.after_removal(left, root, operation.paths)
    elif is_given_up or kind == "reset" or (kind == "restore" and not operation.paths):
        left = open_failures.without_work(left, root, known.branches[root])
    known = replace(known, failures=left)
    if operation.kind in ("branch", "stash", "unstash", "drop"):
        at_ms = recorded.event.at_ms if operation.kind == "stash" else None
        is_new = operation.kind == "branch"
        return known if is_new else project_state.with_stash(known, root, at_ms), ()
    commits = project_state.commits_since(known, root, operation.target) if operation.target else []
    hashes = [one.hash for one in commits]
    if commits and operation.kind in ("reset", "uncommit"):
        known = project_state.with_head(known, root, commits[-1].parent)
        links = (Link(kind="reverts", title=one) for one in hashes)
        made = replace(made, links=(*made.links, *links))
    if operation.kind == "uncommit":
        after = project_state.map_edits(
            known, lambda one: replace(one, commit="") if one.commit in hashes else one
        )
        dissolved = distinct((*known.dissolved, *hashes), project_state.COMMITS)
        return replace(after, dissolved=dissolved), (made,) if hashes else ()
    live = [one for one in known.edits if not one.reverted_by]
    pending = [one for one in live if not one.commit and one.root == root and one.path]
    new = {one.path for one in pending if one.is_new}
    ours = [one for one in pending if one.kind != "undo" and (one.path in new) == (kind == "clean")]
    taken = [one for one in live if is_within(one.path, operation.paths)]
    taken = [one for one in taken if one.commit in hashes or one in ours]
    after, items = _with_undone(known, recorded, taken, made, how)
    if not taken and (operation.paths or commits):
        # It reverted changes older than the state, which may be why a check passes.
        path = operation.paths[0] if len(operation.paths) == 1 else ""
        after = _with_undo(after, recorded, made, how=how, since=0, path=path)
    return after, items or ((made,) if hashes and operation.kind == "reset" else ())


def _with_undone(
    known: ProjectState,
    recorded: Recorded,
    taken: Sequence[TrackedEdit],
    made: Item,
    how: str,
    *,
    reverted_by: str = project_state.DROPPED,
) -> Step:
    """Mark edits as reverted by the event whose observation is `made`, and link that to them.

    It is linked to the observations of the edits, then to the fixes that they were part of.
    """
    if not taken:
        return known, ()
    edits = dict.fromkeys(edit.item for edit in taken)
    fixes = dict.fromkeys(fix for edit in taken for fix in edit.fixed.values())
    links = (Link(kind="reverts", target=one) for one in (*edits, *fixes) if one != made.id)
    after = project_state.with_reverted(known, taken, reverted_by)
    paths = {edit.path for edit in taken}
    path = paths.pop() if len(paths) == 1 else ""
    since = min(edit.seq for edit in taken)
    after = _with_undo(after, recorded, made, how=how, since=since, path=path)
    return after, (replace(made, links=(*made.links, *links)),)


def _with_undo(
    known: ProjectState, recorded: Recorded, made: Item, *, how: str, since: int, path: str
) -> ProjectState:
    """Track a reversal as an edit of its own: it may be why a check passes."""
    undo = TrackedEdit(
        seq=order_of(recorded),
        item=made.id,
        root=recorded.root,
        branch=known.branches[recorded.root],
        session=recorded.session_id,
        kind="undo",
        path=path,
        said=one_line(how, 200),
        since=since,
    )
    return project_state.with_edit(known, undo)


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
    if was.issuperset(edit.seq for edit in after.edits if edit.reverted_by):
        return {}  # as after most edits, of which each comes here
    there: set[tuple[int, str]] = set()
    gone: set[tuple[int, str]] = set()
    for edit in after.edits:
        if edit.session and edit.path and edit.kind != "undo" and edit.seq not in was:
            (gone if edit.reverted_by else there).add((edit.session, edit.path))
    found: dict[int, set[str]] = {}
    for session, path in gone - there:
        found.setdefault(session, set()).add(path)
    return found


# Any: each function takes the body of its key's type, which a dict's type cannot say.
_STEPS: dict[type[AnyBody], Callable[[ProjectState, Recorded, Any, Item], Step]] = {
    FileWrite: _write,
    Command: _command,
    Commit: _commit,
    Rewrite: _rewrite,
    Checkout: lambda known, _recorded, _body, _made: (known, ()),  # its branch is noted
}
