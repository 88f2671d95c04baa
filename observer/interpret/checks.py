"""Checks that fail and pass again, and what was changed in between.

Part of interpretation (step 6), of the arcs: the open failures of a project. Which passes answer
which failures is said in `invocation`, which changes count in `relation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from observer.events import Command
from observer.interpret import arcs_told, commandline, invocation, story
from observer.interpret.arcs_told import Mended
from observer.interpret.invocation import Invocation
from observer.interpret.relation import is_named, is_related
from observer.interpret.remedies import is_remedy
from observer.interpret.story import EXPIRES_MS, TROUBLES, Edited, Story, Trouble
from observer.interpret.verdict import Verdict
from observer.interpret.wording import one_line
from observer.model import UNASSIGNED, Item, Recorded

Items = tuple[Item, ...]
Step = tuple[Story, Items]

_ITEMS = 6
_SESSIONS = 8
_PLACE = re.compile(r"([^\s:()]+\.\w{1,10})(?::|\()\d+")


def checked(known: Story, recorded: Recorded, body: Command, verdict: Verdict, made: Item) -> Step:
    """Note how a command ended; a pass that mends a failure is told as a fix."""
    known = _with_remedies(known, recorded, body, made)
    run = invocation.read(body.command, verdict, root=recorded.root, cwd=recorded.event.cwd)
    if run is None or verdict.ok is None:
        return known, ()
    if verdict.ok:
        nothing_ran = verdict.passed == 0 and verdict.tool != ""
        return (known, ()) if nothing_ran else _passed(known, recorded, run, verdict, made)
    return _failed(known, recorded, run, verdict, made), ()


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


def _failed(
    known: Story, recorded: Recorded, run: Invocation, verdict: Verdict, made: Item
) -> Story:
    here = story.ground_of(known, recorded.root)
    troubles = [_seen_again(one, recorded, run, verdict, made) for one in known.troubles]
    if not any(one.of == run and one.ground == here for one in troubles):
        troubles.append(_begun(known, recorded, run, verdict, made))
    at_ms = recorded.event.at_ms
    fresh = [one for one in troubles if at_ms - one.last_ms <= EXPIRES_MS]
    return replace(known, troubles=tuple(fresh[-TROUBLES:]))


def _begun(
    known: Story, recorded: Recorded, run: Invocation, verdict: Verdict, made: Item
) -> Trouble:
    return Trouble(
        of=run,
        head=made.title,
        ground=story.ground_of(known, recorded.root),
        seq=recorded.seq,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        items=(made.id,),
        sessions=(recorded.session_id,),
        said=verdict.said,
        error=verdict.first_error,
        last_error=verdict.first_error,
        signature=verdict.signature,
        tests=_all_failing(verdict),
        place=_only_place(verdict),
    )


def _seen_again(
    one: Trouble, recorded: Recorded, run: Invocation, verdict: Verdict, made: Item
) -> Trouble:
    """Return a failure after another failing run, if that one was of the same tests."""
    if one.ground.root != recorded.root or not invocation.is_kin(run, one.of):
        return one
    is_same = run == one.of
    if not is_same and not _overlaps(one, run, verdict):
        return one
    again = replace(
        one,
        last_seq=recorded.seq,
        last_ms=recorded.event.at_ms,
        runs=one.runs + 1,
        items=tuple(dict.fromkeys((*one.items[:1], *one.items[1:][-_ITEMS:], made.id))),
        sessions=tuple(dict.fromkeys((*one.sessions, recorded.session_id)))[-_SESSIONS:],
        last_error=verdict.first_error or one.last_error,
    )
    if not is_same:
        return again
    return replace(again, tests=_all_failing(verdict), place=_only_place(verdict))


def _overlaps(one: Trouble, run: Invocation, verdict: Verdict) -> bool:
    is_part = invocation.includes(run, one.of) or invocation.includes(one.of, run)
    known = bool(one.tests and verdict.failing)
    return is_part and not (known and set(one.tests).isdisjoint(verdict.failing))


def _all_failing(verdict: Verdict) -> tuple[str, ...]:
    """Return the names of all failing tests; nothing if some may be missing."""
    is_all = verdict.failed is None or verdict.failed <= len(verdict.failing)
    return verdict.failing if is_all else ()


def _only_place(verdict: Verdict) -> str:
    """Return where the only error was."""
    found = _PLACE.search(verdict.first_error)
    return found.group(1) if found and verdict.failed in (None, 1) else ""


def _passed(
    known: Story, recorded: Recorded, run: Invocation, verdict: Verdict, made: Item
) -> Step:
    here = story.ground_of(known, recorded.root)
    kept: list[Trouble] = []
    mended: list[Trouble] = []
    for one in known.troubles:
        if one.ground != here or not _is_answered(one, recorded, run):
            kept.append(_less(one, run) if one.ground == here else one)
        else:
            mended.append(one)
    if not mended:
        return replace(known, troubles=tuple(kept)), ()
    by = {trouble.seq: _mending(known, trouble, recorded) for trouble in mended}
    edits = sorted(
        {edit.seq: edit for found in by.values() for edit in found}.values(),
        key=lambda edit: edit.seq,
    )
    after = replace(known, troubles=tuple(kept))
    if not edits:
        return after, ()
    program = run.program
    seqs = {edit.seq for edit in edits}
    after = story.each_edit(
        after,
        lambda one: replace(one, fixed=(*one.fixed, program)[-6:]) if one.seq in seqs else one,
    )
    told = Mended(
        troubles=tuple(trouble for trouble in mended if by[trouble.seq]),
        edits=tuple(edits),
        vain=_vain(known, mended),
    )
    return after, (arcs_told.fix(told, recorded, verdict, made),)


def _is_answered(one: Trouble, recorded: Recorded, run: Invocation) -> bool:
    if recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions:
        return False
    return invocation.answers(run, one.of, one.tests, one.place)


def _less(one: Trouble, run: Invocation) -> Trouble:
    """Return a failure without the tests that have passed by themselves."""
    if not one.tests or not invocation.is_kin(run, one.of):
        return one
    return replace(
        one, tests=tuple(name for name in one.tests if not invocation.chooses(run, name))
    )


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
