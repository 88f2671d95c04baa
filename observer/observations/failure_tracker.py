"""Checks that fail and pass again, and what was changed in between.

Part of interpretation (step 6), of the arcs: the open failures of a project. Which passes answer
which failures is said in `invocation`, which changes count in `causes`, and in `alternatives` what
another form of a command has to do with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.events import Command
from observer.core.model import UNASSIGNED, Item, Recorded
from observer.core.text import distinct, one_line, word_set
from observer.observations import fix_commands, fix_text, project_state
from observer.observations.analysis import origin_of
from observer.observations.check_results import COMMIT, FILES, invocation_of, named_in
from observer.observations.fix_text import ResolvedFailures
from observer.observations.project_state import (
    EXPIRES_MS,
    FAILURES,
    ProjectState,
    TrackedEdit,
    TrackedFailure,
    WorktreeBranch,
)
from observer.observations.relatedness import causes_of
from observer.outcomes import not_started, same_check
from observer.outcomes.check_runs import CheckResults, runs_of
from observer.outcomes.not_started import Unstarted
from observer.outcomes.outcome import exit_code_of
from observer.outcomes.result import CommandResult
from observer.outcomes.same_check import Invocation
from observer.shell import command_line
from observer.shell.check import clears
from observer.shell.command_forms import InvocationForm
from observer.shell.fixers import remedy_of

Items = tuple[Item, ...]
Step = tuple[ProjectState, Items]

_ITEMS = 6
_SESSIONS = 8
_HELPED = 20
_PLACE = re.compile(r"([^\s:()]+\.\w{1,10})(?::|\()\d+")
_SCRIPT_RUNNERS = word_set("npm yarn pnpm bun make just task mise composer rake poe pdm hatch")


class CheckRun(NamedTuple):
    """A check that ended: what was run, on what, how it went, and what tells of it."""

    recorded: Recorded
    of: Invocation
    head: str
    ran: str
    ground: WorktreeBranch
    result: CommandResult
    item: int
    unstarted: Unstarted = Unstarted()
    form: InvocationForm | None = None
    files: tuple[str, ...] = ()
    runs: CheckResults = CheckResults()


def with_command(
    known: ProjectState, recorded: Recorded, body: Command, result: CommandResult, made: Item
) -> Step:
    """Note how a command ended; a pass that mends a failure is told as a fix."""
    if not result.was_run:
        return known, ()
    known = _with_remedies(known, recorded, body, result, made)
    why = _why_unstarted(body, result)
    ran = fix_commands.EndedCommand(
        recorded=recorded,
        command=body.command,
        result=result,
        item=made.id,
        is_unstarted=bool(why.reason),
    )
    known, told = fix_commands.with_alternative(known, ran)
    runs = runs_of(body, result, root=recorded.root, cwd=recorded.event.cwd, tasks=known.tasks)
    run = invocation_of(body, recorded, result, why, runs)
    is_ok = False if why.reason else result.ok
    if run is None or is_ok is None or (is_ok and _nothing_ran(result)):
        return known, told
    check = CheckRun(
        recorded=recorded,
        of=run,
        head=runs.head
        or same_check.named(body.command, root=recorded.root, cwd=recorded.event.cwd),
        ran=command_line.read(body.command).head,
        ground=project_state.worktree_of(known, recorded.root),
        result=result,
        item=made.id,
        unstarted=why,
        form=fix_commands.failing_form(ran, why) if not is_ok else None,
        files=() if is_ok else named_in(body.output, root=recorded.root, cwd=recorded.event.cwd),
        runs=runs,
    )
    if not is_ok:
        return _failed(known, check), told
    after, fixes = _passed(known, check)
    return after, (*told, *fixes)


def _nothing_ran(result: CommandResult) -> bool:
    return result.passed == 0 and result.tool != ""


def _why_unstarted(body: Command, result: CommandResult) -> Unstarted:
    """Return why a command could not do its work; nothing where it did, or a check spoke."""
    if result.is_cut_off:
        return Unstarted(reason="stopped", said=result.first_error)
    is_judged = result.ok is True or result.passed is not None or bool(result.failing)
    if is_judged or body.interrupted:
        return Unstarted()
    return not_started.read(body.output, code=exit_code_of(body))


def _with_remedies(
    known: ProjectState, recorded: Recorded, body: Command, result: CommandResult, made: Item
) -> ProjectState:
    kinds = [(part, remedy_of(part)) for part in command_line.parts_of(body.command)]
    remedies = [(part.shown, kind) for part, kind in kinds if kind]
    if not remedies:
        return known
    remedy = TrackedEdit(
        seq=recorded.seq,
        item=made.id,
        ground=project_state.worktree_of(known, recorded.root),
        session=recorded.session_id,
        sort="command",
        said=one_line("; ".join(said for said, _ in remedies), 200),
        remedy=remedies[0][1],
        has_failed=result.ok is False,
    )
    return project_state.with_edit(known, remedy)


def _failed(known: ProjectState, check: CheckRun) -> ProjectState:
    troubles = [
        _seen_again(one, check) if _is_same(one, check) or _overlaps(one, check) else one
        for one in known.troubles
        if not _is_replaced(one, check)
    ]
    if not any(_is_same(one, check) for one in troubles):
        troubles.append(_begun(check))
    at_ms = check.recorded.event.at_ms
    fresh = [one for one in troubles if at_ms - one.last_ms <= EXPIRES_MS]
    return replace(known, troubles=tuple(fresh[-FAILURES:]))


def _begun(check: CheckRun) -> TrackedFailure:
    recorded, result = check.recorded, check.result
    error = result.first_error or check.unstarted.said
    return TrackedFailure(
        of=check.of,
        head=check.head,
        ground=check.ground,
        seq=recorded.seq,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        items=(check.item,),
        sessions=(recorded.session_id,),
        said=result.said,
        error=error,
        last_error=error,
        signature=result.signature,
        tests=_all_failing(result),
        place=_only_place(result),
        checks=check.runs.failed,
        files=check.files,
        unstarted=check.unstarted.reason,
        form=check.form,
        origin=origin_of(recorded),
    )


def _is_replaced(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if the check was left red earlier, and fails of something else now."""
    is_new = check.recorded.session_id not in one.sessions
    return is_new and _is_same(one, check) and not _is_same_failure(one, check)


def _is_same_failure(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if a check fails as it did before, as far as its output tells."""
    result = check.result
    if one.tests and result.failing:
        return set(one.tests) == set(_all_failing(result) or result.failing)
    now = (result.first_error or one.last_error, result.said)
    return now == (one.last_error, one.said)


def _seen_again(one: TrackedFailure, check: CheckRun) -> TrackedFailure:
    recorded, result = check.recorded, check.result
    again = replace(
        one,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        items=tuple(dict.fromkeys((*one.items[:1], *one.items[1:][-_ITEMS:], check.item))),
        sessions=tuple(dict.fromkeys((*one.sessions, recorded.session_id)))[-_SESSIONS:],
        last_error=result.first_error or one.last_error,
        files=distinct((*check.files, *one.files), FILES),
    )
    if not _is_same(one, check):
        return again
    return replace(
        again,
        of=check.of,
        runs=one.runs + 1,
        said=result.said or one.said,
        tests=_all_failing(result),
        place=_only_place(result),
        tried=recorded.seq if _is_same_failure(one, check) else one.tried,
        unstarted=check.unstarted.reason,
        form=check.form,
    )


def _is_same(one: TrackedFailure, check: CheckRun) -> bool:
    if one.unstarted or check.unstarted.reason:
        # What could not run says nothing about the check that it was meant to be.
        return one.form == check.form and bool(one.unstarted) and bool(check.unstarted.reason)
    return same_check.is_same(one.of, check.of) and one.ground == check.ground


def _overlaps(one: TrackedFailure, check: CheckRun) -> bool:
    """Return True if another failing run was, as far as known, of the same tests."""
    if (
        one.unstarted
        or check.unstarted.reason
        or one.ground != check.ground
        or not same_check.is_kin(check.of, one.of)
    ):
        return False
    failing = check.result.failing
    is_part = same_check.includes(check.of, one.of) or same_check.includes(one.of, check.of)
    return is_part and not (one.tests and failing and set(one.tests).isdisjoint(failing))


def _all_failing(result: CommandResult) -> tuple[str, ...]:
    """Return the names of all failing tests; nothing if some may be missing."""
    is_all = result.failed is None or result.failed <= len(result.failing)
    return result.failing if is_all else ()


def _only_place(result: CommandResult) -> str:
    """Return where the only error was."""
    found = _PLACE.search(result.first_error)
    return found.group(1) if found and result.failed in (None, 1) else ""


def _passed(known: ProjectState, check: CheckRun) -> Step:
    mended: list[TrackedFailure] = []
    kept: list[TrackedFailure] = []
    for one in known.troubles:
        if _is_answered(one, check):
            mended.append(one)
        else:
            kept.append(_less(known, one, check))
    after = replace(known, troubles=tuple(kept))
    mended = [one for one in mended if not _only_fixes(one.of)]
    by = {trouble.seq: causes_of(known, trouble, check.recorded) for trouble in mended}
    edits = {edit.seq: edit for found in by.values() for edit in found}
    if not edits:
        return after, ()
    told = ResolvedFailures(
        troubles=tuple(trouble for trouble in mended if by[trouble.seq]),
        edits=tuple(edits[seq] for seq in sorted(edits)),
        vain=_vain(known, mended),
        passed=check.item,
        ran=check.ran,
        head=check.head,
        said=check.result.said,
    )
    if fix_commands.is_repair(told):
        after, fix = fix_commands.with_repair(after, told, check.recorded)
    else:
        fix = fix_text.fix_item(told, check.recorded)
    done = dict.fromkeys([check.of.program, *(one.of.program for one in mended)], fix.id)
    after = project_state.map_edits(
        after, lambda one: replace(one, fixed=one.fixed | done) if one.seq in edits else one
    )
    return after, (fix,)


def _only_fixes(of: Invocation) -> bool:
    """Return True for a script such as `lint:fix`: what it leaves is the linter's to say."""
    words = of.program.split(" ")
    is_script = words[0] in _SCRIPT_RUNNERS
    return is_script and remedy_of(command_line.SimpleCommand("", words)) == "fixer"


def _is_answered(one: TrackedFailure, check: CheckRun) -> bool:
    if one.ground != check.ground:
        return False
    recorded = check.recorded
    if recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions:
        return False
    return _covers(check, one) or same_check.answers(check.of, one.of, one.tests, one.place)


def _covers(check: CheckRun, one: TrackedFailure) -> bool:
    """Return True if the line has passed what had failed, by a check and not by what it repairs."""
    if COMMIT in (check.of.program, one.of.program):
        return False
    return any(clears(green, red) for green in check.runs.passed for red in one.checks)


def _less(known: ProjectState, one: TrackedFailure, check: CheckRun) -> TrackedFailure:
    """Return a failure without the tests that have passed by themselves."""
    if not one.tests or one.ground != check.ground or not same_check.is_kin(check.of, one.of):
        return one
    left = tuple(name for name in one.tests if not same_check.chooses(check.of, name))
    if left == one.tests:
        return one
    helped = [edit.seq for edit in causes_of(known, one, check.recorded)]
    return replace(one, tests=left, helped=(*one.helped, *helped)[-_HELPED:])


def _vain(known: ProjectState, mended: Iterable[TrackedFailure]) -> tuple[TrackedEdit, ...]:
    """Return what was tried for these failures and taken back."""
    first = min(trouble.seq for trouble in mended)
    return tuple(
        edit
        for edit in known.edits
        if edit.reverted_by and edit.sort == "edit" and edit.seq > first
    )
