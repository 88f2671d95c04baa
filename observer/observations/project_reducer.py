"""Reduce a project's events to its fixes and open failures.

A left fold over the events of all sessions of a project, which links the observations that the
sessions' own reducers made. The rules:

- A fix is a failure, then changes, then a pass of the same check (`check.answers`) on the same
  branch. A pass without a change since the last failure is not a fix. The changes that count are
  those related to the failure (`failure_tracker.causes_of`), which may revert what broke the check.
- A command that could not run, and works in another form, is a fix by itself.
- A change fixes a program once: a wider run that passes later adds nothing.
- Checks that run while work is in git's stash say nothing about that work.
- A new branch at the same commit keeps the open failures; another branch has its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from observer.commands import command_line
from observer.commands.check_tools import STATIC, checker_of
from observer.core.events import AnyBody, Checkout, Command, Commit, FileWrite, Rewrite
from observer.core.model import Item, Link, Recorded, item_id
from observer.core.routes import Order
from observer.core.text import distinct, one_line, relative
from observer.core.value import newest
from observer.observations import (
    failure_tracker,
    git_commands,
    inverse_edits,
    open_failures,
    project_state,
)
from observer.observations.analysis import analysis_of
from observer.observations.drafts import FAILED, order_of, where_of
from observer.observations.fix_text import ALTERNATIVE
from observer.observations.inverse_edits import Reversal
from observer.observations.project_state import (
    Items,
    ProjectState,
    Step,
    TrackedCommit,
    TrackedEdit,
)

TASKS = 40
_PULLED = 50
_HOOKS = ("|git commit",)


def _with_failures(known: ProjectState, recorded: Recorded) -> ProjectState:
    """Return the state with its open failures updated by an event, apart from its checks."""
    known = _with_shown_branch(known, recorded)
    body = recorded.event.body
    if isinstance(body, Command):
        return _after_git(known, recorded, body)
    if isinstance(body, FileWrite) and not body.error:
        path = relative(body.path, recorded.root, recorded.event.cwd)
        return _after_change(known, recorded, [path], is_gone=body.operation == "delete")
    if isinstance(body, Commit) and body.action == "import":
        return _after_change(known, recorded, [file.path for file in body.files[:_PULLED]])
    if isinstance(body, Commit) and recorded.session_id is None:
        hooks = [one for key, checks in known.tasks.items() if key in _HOOKS for one in checks]
        left = open_failures.after_commit(
            known.failures, known.shown_branches[recorded.root], hooks
        )
        return replace(known, failures=left)
    return known


def _with_shown_branch(known: ProjectState, recorded: Recorded) -> ProjectState:
    """Note the branch checked out; open failures move to a new one at the same commit."""
    body, root = recorded.event.body, recorded.root
    branch = one_line(recorded.branch, 250)
    if isinstance(body, Checkout):
        branch = one_line(body.branch or body.new[:10], 250)
    before = known.shown_branches.get(root)
    if before == branch:
        return known
    others = {key: one for key, one in known.shown_branches.items() if key != root}
    shown = newest({**others, root: branch}, project_state.ROOTS)
    known = replace(known, shown_branches=shown)
    if before is None or not (isinstance(body, Checkout) and body.old and body.old == body.new):
        return known
    return replace(known, failures=open_failures.after_switch(known.failures, root, before, branch))


def _after_git(known: ProjectState, recorded: Recorded, body: Command) -> ProjectState:
    """Drop failures of what git, or `rm`, has discarded."""
    if not known.failures:
        return known
    result, root = analysis_of(recorded).result, recorded.root
    is_ok = result.ok is not False
    left = known.failures
    for operation, _ in git_commands.operations_of(recorded, body, is_ok=is_ok):
        if operation.kind == "clean":
            left = open_failures.after_removal(left, root, operation.paths)
        is_given_up = operation.kind == "drop" and project_state.is_stashed(
            known, root, recorded.event.at_ms
        )
        is_all = operation.kind == "restore" and not operation.paths
        if operation.kind == "reset" or is_all or is_given_up:
            left = open_failures.without_work(left, root, known.shown_branches.get(root, ""))
    return replace(known, failures=left)


def _after_change(
    known: ProjectState, recorded: Recorded, paths: Iterable[str], *, is_gone: bool = False
) -> ProjectState:
    left = known.failures
    for path in paths if left else ():
        left = open_failures.after_change(left, recorded.root, path, is_gone=is_gone)
    return replace(known, failures=left)


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

    def add(self, recorded: Recorded, made: Items) -> Items:
        """Add the next event, as `SessionReducer.add_paired` returned it, and its observations.

        Returns:
            The items to insert or replace besides those: fixes, and the observations that have
            gained links.
        """
        body = recorded.event.body
        step = _STEPS.get(type(body))
        if step is None or not made:
            return ()
        known = _with_first_branch(self._state, recorded)
        known = _with_failures(known, recorded)
        self._state, items = step(known, recorded, body, made[0])
        return items

    @property
    def state(self) -> ProjectState:
        """What was known of the project after the last event that was added."""
        return self._state

    def changed_state(self) -> bytes | None:
        """Return the state with everything added so far, encoded; None if it has not changed."""
        times = self._order.heard_ms, self._order.imported_ms
        if self._state is self._stored and times == (
            self._stored.heard_ms,
            self._stored.imported_ms,
        ):
            return None
        return project_state.encode(replace(self._state, heard_ms=times[0], imported_ms=times[1]))


def _with_first_branch(known: ProjectState, recorded: Recorded) -> ProjectState:
    """Note the branch of a work tree that is new to the state."""
    root = recorded.root
    if root in known.branches:
        return known
    return project_state.with_branch(known, root, one_line(recorded.branch, 250), "", is_same=True)


def _write(known: ProjectState, recorded: Recorded, body: FileWrite, made: Item) -> Step:
    if body.error:
        return known, ()
    where, change = where_of(recorded), analysis_of(recorded).change
    path = relative(body.path, where.root, where.cwd)
    edit = TrackedEdit(
        seq=order_of(recorded),
        item=made.id,
        worktree=project_state.worktree_of(known, recorded.root),
        session=recorded.session_id,
        path=path,
        said=change.became,
        symbols=distinct(change.symbols, _SYMBOLS),
        is_new=body.operation == "create",
    )
    return project_state.with_edit(known, edit), ()


def _commit(known: ProjectState, recorded: Recorded, body: Commit, made: Item) -> Step:
    reverted = distinct(_REVERTS.findall(body.message), _PAIRS)
    links = [Link(kind="reverts", title=title) for title in reverted]
    if body.action == "import":
        return known, (replace(made, links=tuple(links)),) if links else ()
    paths = dict.fromkeys(file.path for file in body.files)
    links += (Link(kind="replaces", title=title) for title in _replaced(known, paths))
    commit = TrackedCommit(
        hash=body.hash[:64], parent="".join(body.parents[:1])[:64], paths=distinct(paths, _PATHS)
    )
    after = project_state.with_reverted(
        known, inverse_edits.restored_by_revert(known, reverted), ""
    )
    after, items = inverse_edits.with_undone(
        after,
        recorded,
        inverse_edits.undone_by_revert(known, reverted),
        made,
        Reversal(
            how=f"reverted in {commit.hash[:10]}", links=tuple(links), reverted_by=commit.hash
        ),
    )
    return project_state.with_commit(after, recorded.root, commit, paths), items


def _replaced(known: ProjectState, paths: Iterable[str]) -> list[str]:
    """Return the dissolved commits whose files a new commit holds."""
    taken = set(paths)
    dissolved = [commit for commit in known.commits if commit.hash in known.dissolved]
    return [commit.hash for commit in dissolved if taken.intersection(commit.paths)]


def _rewrite(known: ProjectState, recorded: Recorded, body: Rewrite, made: Item) -> Step:
    pairs = dict(body.pairs[:_PAIRS])
    commits = [
        replace(one, hash=pairs.get(one.hash, one.hash), parent=pairs.get(one.parent, one.parent))
        for one in known.commits
        if pairs.get(one.hash) != ""
    ]
    after = project_state.map_edits(
        known, lambda one: replace(one, commit=pairs.get(one.commit, one.commit))
    )
    head = known.heads.get(recorded.root, "")
    after = replace(after, commits=tuple({one.hash: one for one in commits}.values()))
    if head in pairs:
        after = project_state.with_head(after, recorded.root, pairs[head])
    links = [Link(kind="replaces", title=old) for old in pairs]
    links += [Link(kind="makes", title=new) for new in dict.fromkeys(pairs.values()) if new]
    return after, (replace(made, links=tuple(links)),)


def _checkout(known: ProjectState, recorded: Recorded, body: Checkout, _made: Item) -> Step:
    branch = one_line(body.branch or body.new[:10], 250)
    after = project_state.with_branch(
        known, recorded.root, branch, body.new[:64], is_same=bool(body.old) and body.old == body.new
    )
    return replace(after, is_checkout_reported=True), ()


def _command(known: ProjectState, recorded: Recorded, body: Command, made: Item) -> Step:
    result = analysis_of(recorded).result
    after, undone = inverse_edits.with_git_command(
        known, recorded, body, made, is_ok=result.ok is not False
    )
    after = replace(after, is_checkout_reported=False) if after.is_checkout_reported else after
    if project_state.is_stashed(after, recorded.root, recorded.event.at_ms):
        return after, undone
    if made.category != FAILED and made.folded > 1:  # links name the run, not its record
        made = replace(made, id=item_id(recorded.seq))
    ran = open_failures.ended_command(after.tasks, recorded, body, result, made.id)
    if any(ran.runs):
        here = ran._replace(branch=after.shown_branches.get(recorded.root, ""))
        tasks = newest({**after.tasks, **ran.runs.learned}, TASKS)
        failures = open_failures.after_run(after.failures, here)
        after = replace(after, failures=failures, tasks=tasks)
    after, items = failure_tracker.with_command(after, ran)
    return after, (*undone, *map(_unless_static, items))


def _unless_static(made: Item) -> Item:
    """Return a fix as a record if only what reads the code found what it mended, and says how."""
    if made.type != "fix" or made.category == ALTERNATIVE or not made.facts:
        return made
    failed = command_line.simple_commands(made.facts[0].removeprefix("$ "))
    kinds = {found.kind for part in failed if (found := checker_of(part.words))}
    return replace(made, kind="record") if kinds and kinds <= STATIC else made


# Any: each function takes the body of its key's type, which a dict's type cannot say.
_STEPS: dict[type[AnyBody], Callable[[ProjectState, Recorded, Any, Item], Step]] = {
    FileWrite: _write,
    Command: _command,
    Commit: _commit,
    Rewrite: _rewrite,
    Checkout: _checkout,
}
