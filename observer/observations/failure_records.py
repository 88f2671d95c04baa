"""What a project remembers of failing checks and their fixes: the records of its state.

Frozen values, stored as JSON within `ProjectState`. The newest are kept, up to the limits here.
Sequence numbers (`seq`) are those of `drafts.order_of`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from observer.core.value import Value
from observer.observations.drafts import ItemOrigin
from observer.shell.check import CheckIdentity
from observer.shell.command_forms import InvocationForm

EDITS = 120
FAILURES = 24
ALTERNATIVES = 40
REPAIRS = 20
EXPIRES_MS = 7 * 24 * 3_600_000
"""A failure that was not seen for so long is dropped."""

STASHED = "stashed"
DROPPED = "dropped"
"""Values of `TrackedEdit.reverted_by` where no commit reverted the edit."""


class WorktreeBranch(Value):
    """Where a check ran: a work tree, and the branch or detached commit checked out in it."""

    root: str = ""
    branch: str = ""


class TrackedEdit(Value):
    """One change to the work tree, kept as long as it may explain a check that passes.

    `kind` is `edit`; `probe` for an edit that only prints; `command` for one that changes
    something; `undo` for what took back edits from `since` on. `item` is its observation.
    `reverted_by` is empty while the change is there, else `STASHED`, `DROPPED` or the hash of the
    commit that reverted it. `fixed` maps the programs whose failure it fixed to the items of those
    fixes. `remedy` is the kind of command, as `shell.fixers.remedy_of` returns it; `has_failed` if
    that command failed.
    """

    seq: int
    item: int
    worktree: WorktreeBranch
    session: int | None = None
    kind: Literal["edit", "probe", "command", "undo"] = "edit"
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
    """A failing check, tracked until a pass resolves it: how it failed first and last.

    `tests` are the failing tests if all of them are known, else empty; `place` is the file of the
    error if there was only one. `items` are the observations of its failures, oldest first.
    `checks` is what was run, then the checks that failed in it; a pass of any resolves it.
    `runs` counts the failing runs of exactly this check; `files` are named in its output.
    Edits up to the sequence number `tried` did not change the failure. `unstarted` is the reason if
    the command could not do its work, which says nothing about the code. `form` is the command as
    typed, `origin` the event that failed first.
    """

    checks: tuple[CheckIdentity, ...]
    head: str
    worktree: WorktreeBranch
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
    files: tuple[str, ...] = ()
    tried: int = 0
    unstarted: str = ""
    form: InvocationForm | None = None
    origin: ItemOrigin | None = None

    @property
    def check(self) -> CheckIdentity:
        """What was run."""
        return self.checks[0]


class Alternative(Value):
    """A command that works where another form of it does not, and how often that was met.

    `reason` is as in `TrackedFailure.unstarted`, empty if the failed form only lacks a setting.
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


class Repair(Value):
    """A fixer, such as a formatter, that repairs what a check finds, and how often that was met.

    `program` is the check, `head` how it was run first, `by` the fixer. `met` are the observations
    of the failure, of the fixer and of the pass, of the newest occurrences; `errors` are what was
    found, newest first.
    """

    program: str
    head: str
    by: str
    origin: ItemOrigin
    times: int = 0
    met: tuple[tuple[int, int, int], ...] = ()
    errors: tuple[str, ...] = ()


class Rejection(Value):
    """The newest rejected attempt, which grows if more of its edits are reverted."""

    origin: ItemOrigin
    last_seq: int
    edits: tuple[TrackedEdit, ...] = ()
    undone_by: tuple[int, ...] = ()
