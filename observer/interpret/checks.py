"""Checks that fail and pass again, and what was changed in between.

Part of interpretation (step 6), of the arcs: the open failures of a project. Which passes answer
which failures is said in `invocation`, which changes count in `relation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from observer.events import Command
from observer.interpret import arcs_told, commandline, invocation, story
from observer.interpret.arcs_told import Mended
from observer.interpret.invocation import Invocation
from observer.interpret.relation import is_named, is_related
from observer.interpret.remedies import is_remedy
from observer.interpret.story import EXPIRES_MS, TROUBLES, Edited, Ground, Story, Trouble
from observer.interpret.verdict import Verdict
from observer.interpret.wording import one_line
from observer.model import UNASSIGNED, Item, Recorded

Items = tuple[Item, ...]
Step = tuple[Story, Items]

_ITEMS = 6
_SESSIONS = 8
_PLACE = re.compile(r"([^\s:()]+\.\w{1,10})(?::|\()\d+")


class Check(NamedTuple):
    """A check that ended: what was run, on what, how it went, and what tells of it."""

    recorded: Recorded
    of: Invocation
    head: str
    ground: Ground
    verdict: Verdict
    item: int


def checked(known: Story, recorded: Recorded, body: Command, verdict: Verdict, made: Item) -> Step:
    """Note how a command ended; a pass that mends a failure is told as a fix."""
    if not verdict.was_run:
        return known, ()
    known = _with_remedies(known, recorded, body, made)
    run = invocation.read(body.command, verdict, root=recorded.root, cwd=recorded.event.cwd)
    if run is None or verdict.ok is None or (verdict.ok and _nothing_ran(verdict)):
        return known, ()
    check = Check(
        recorded=recorded,
        of=run,
        head=invocation.named(body.command, root=recorded.root, cwd=recorded.event.cwd),
        ground=story.ground_of(known, recorded.root),
        verdict=verdict,
        item=made.id,
    )
    return _passed(known, check) if verdict.ok else (_failed(known, check), ())


def _nothing_ran(verdict: Verdict) -> bool:
    return verdict.passed == 0 and verdict.tool != ""


def _with_remedies(known: Story, recorded: Recorded, body: Command, made: Item) -> Story:
    parts = commandline.parts_of(body.command)
    said = [" ".join(part.words) for part in parts if is_remedy(part)]
    if not said:
        return known
    remedy = Edited(
        seq=recorded.seq,
        item=made.id,
        ground=story.ground_of(known, recorded.root),
        session=recorded.session_id,
        sort="command",
        said=one_line("; ".join(said), 200),
    )
    return story.edited(known, remedy)


def _failed(known: Story, check: Check) -> Story:
    troubles = [
        _seen_again(one, check) if _is_same(one, check) or _overlaps(one, check) else one
        for one in known.troubles
    ]
    if not any(_is_same(one, check) for one in troubles):
        troubles.append(_begun(check))
    at_ms = check.recorded.event.at_ms
    fresh = [one for one in troubles if at_ms - one.last_ms <= EXPIRES_MS]
    return replace(known, troubles=tuple(fresh[-TROUBLES:]))


def _begun(check: Check) -> Trouble:
    recorded, verdict = check.recorded, check.verdict
    return Trouble(
        of=check.of,
        head=check.head,
        ground=check.ground,
        seq=recorded.seq,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        items=(check.item,),
        sessions=(recorded.session_id,),
        said=verdict.said,
        error=verdict.first_error,
        last_error=verdict.first_error,
        signature=verdict.signature,
        tests=_all_failing(verdict),
        place=_only_place(verdict),
    )


def _seen_again(one: Trouble, check: Check) -> Trouble:
    recorded, verdict = check.recorded, check.verdict
    again = replace(
        one,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        runs=one.runs + 1,
        items=tuple(dict.fromkeys((*one.items[:1], *one.items[1:][-_ITEMS:], check.item))),
        sessions=tuple(dict.fromkeys((*one.sessions, recorded.session_id)))[-_SESSIONS:],
        last_error=verdict.first_error or one.last_error,
    )
    if not _is_same(one, check):
        return again
    return replace(again, tests=_all_failing(verdict), place=_only_place(verdict))


def _is_same(one: Trouble, check: Check) -> bool:
    return one.of == check.of and one.ground == check.ground


def _overlaps(one: Trouble, check: Check) -> bool:
    """Tell whether another failing run was, as far as known, of the same tests."""
    if one.ground != check.ground or not invocation.is_kin(check.of, one.of):
        return False
    failing = check.verdict.failing
    is_part = invocation.includes(check.of, one.of) or invocation.includes(one.of, check.of)
    return is_part and not (one.tests and failing and set(one.tests).isdisjoint(failing))


def _all_failing(verdict: Verdict) -> tuple[str, ...]:
    """Return the names of all failing tests; nothing if some may be missing."""
    is_all = verdict.failed is None or verdict.failed <= len(verdict.failing)
    return verdict.failing if is_all else ()


def _only_place(verdict: Verdict) -> str:
    """Return where the only error was."""
    found = _PLACE.search(verdict.first_error)
    return found.group(1) if found and verdict.failed in (None, 1) else ""


def _passed(known: Story, check: Check) -> Step:
    mended: list[Trouble] = []
    kept: list[Trouble] = []
    for one in known.troubles:
        if _is_answered(one, check):
            mended.append(one)
        else:
            kept.append(_less(one, check))
    after = replace(known, troubles=tuple(kept))
    by = {trouble.seq: _mending(known, trouble, check.recorded) for trouble in mended}
    edits = {edit.seq: edit for found in by.values() for edit in found}
    if not edits:
        return after, ()
    told = Mended(
        troubles=tuple(trouble for trouble in mended if by[trouble.seq]),
        edits=tuple(edits[seq] for seq in sorted(edits)),
        vain=_vain(known, mended),
        passed=check.item,
        head=check.head,
        said=check.verdict.said,
    )
    fix = arcs_told.fix(told, check.recorded)
    done = {check.of.program: fix.id}
    after = story.each_edit(
        after, lambda one: replace(one, fixed=one.fixed | done) if one.seq in edits else one
    )
    return after, (fix,)


def _is_answered(one: Trouble, check: Check) -> bool:
    if one.ground != check.ground:
        return False
    recorded = check.recorded
    if recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions:
        return False
    return invocation.answers(check.of, one.of, one.tests, one.place)


def _less(one: Trouble, check: Check) -> Trouble:
    """Return a failure without the tests that have passed by themselves."""
    if not one.tests or one.ground != check.ground or not invocation.is_kin(check.of, one.of):
        return one
    left = [name for name in one.tests if not invocation.chooses(check.of, name)]
    return replace(one, tests=tuple(left))


def _mending(known: Story, trouble: Trouble, recorded: Recorded) -> list[Edited]:
    """Return the changes that can have mended a failure."""
    mine = {None, recorded.session_id, *trouble.sessions}
    return [
        edit
        for edit in known.edits
        if trouble.seq < edit.seq
        and not edit.gone
        and edit.sort != "probe"
        and edit.ground == trouble.ground
        and trouble.of.program not in edit.fixed
        and (edit.sort != "undo" or edit.since < trouble.seq)
        and is_related(edit, trouble)
        and (edit.session in mine or is_named(edit, trouble))
    ]


def _vain(known: Story, mended: Iterable[Trouble]) -> tuple[Edited, ...]:
    """Return what was tried for these failures and taken back."""
    first = min(trouble.seq for trouble in mended)
    return tuple(
        edit for edit in known.edits if edit.gone and edit.sort == "edit" and edit.seq > first
    )
