"""Commands that work where another form of them does not: `bun test` instead of `rtk bun test`.

Part of interpretation (step 6), of the arcs. A form counts as not working where the command could
not do its work (`unstarted`), or where the same command passed with one setting more and nothing
was changed in between. A pair is told once in a project, and counts how often it was met.

Failures that a fixer mends: `npm run lint` fails, `npm run lint:fix`, and it passes.

Part of interpretation (step 6), of the arcs. Once for a check and its fixer that is worth knowing,
each time it is not: a project has one such fix, which counts how often it was met.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from observer.core.model import Item, Recorded
from observer.core.text import distinct
from observer.observations import fix_text
from observer.observations.analysis import origin_of
from observer.observations.failure_records import ALTERNATIVES, REPAIRS, Alternative, Repair
from observer.observations.fix_text import ResolvedFailures
from observer.observations.project_state import ProjectState, TrackedEdit, TrackedFailure
from observer.outcomes import same_check
from observer.outcomes.not_started import Unstarted
from observer.outcomes.result import CommandResult
from observer.shell import command_forms, command_line
from observer.shell.command_forms import InvocationForm

Step = tuple[ProjectState, tuple[Item, ...]]

WITHIN_MS = 2 * 3_600_000
"""What works so long after a failure is hardly the answer to it."""
_PAIRS = 20
_RAN = ("", "stopped")
"""Of a command that began to work its words are right: it may lack a setting."""


class EndedCommand(NamedTuple):
    """A command line that ended, and the observation that tells of it."""

    recorded: Recorded
    command: str
    result: CommandResult
    item: int
    is_unstarted: bool

    @property
    def forms(self) -> tuple[InvocationForm, ...]:
        """The commands of the line that do something."""
        folder = same_check.folder_of(
            command_line.parts_of(self.command), self.recorded.root, self.recorded.event.cwd
        )
        return command_forms.forms_of(self.command, folder=folder)

    @property
    def has_run(self) -> bool:
        """Whether its program did its work, whatever it found."""
        result = self.result
        is_judged = result.is_check and (result.passed is not None or result.failed is not None)
        return not self.is_unstarted and (result.ok is not False or is_judged)


def failing_form(ran: EndedCommand, why: Unstarted) -> InvocationForm | None:
    """Return the command of a line that failed: the one that the message blames, or the last."""
    every = ran.forms
    blamed = [form for form in every if why.name and why.name in form.words]
    return next(iter(blamed), every[-1] if every else None)


def with_alternative(known: ProjectState, ran: EndedCommand) -> Step:
    """Note a command that ended; where it is what an earlier one was meant to be, tell so."""
    if not ran.has_run:
        return known, ()
    known = _without_refuted(known, ran)
    for trouble in reversed(known.troubles):
        if form := _instead_of(known, trouble, ran):
            return _told(known, trouble, ran, form)
    return known, ()


def _without_refuted(known: ProjectState, ran: EndedCommand) -> ProjectState:
    """Note that a form works after all which had failed: somebody installed what it lacked."""
    if ran.result.ok is not True or len(ran.forms) != 1:
        return known
    (form,) = ran.forms
    marked = tuple(
        replace(one, is_refuted=one.is_refuted or command_forms.is_same(one.failed, form))
        for one in known.alternatives
    )
    return known if marked == known.alternatives else replace(known, alternatives=marked)


def _instead_of(
    known: ProjectState, trouble: TrackedFailure, ran: EndedCommand
) -> InvocationForm | None:
    """Return the form that does what the failed one did not."""
    recorded, failed = ran.recorded, trouble.form
    if (
        failed is None
        or trouble.unstarted == "service"  # what was not up says nothing about the words
        or recorded.session_id != trouble.sessions[-1]
        or trouble.ground.root != recorded.root
        or recorded.event.at_ms - trouble.last_ms > WITHIN_MS
    ):
        return None
    if trouble.unstarted not in _RAN:
        return next(
            (
                one
                for one in ran.forms
                if command_forms.is_other_form(failed, one, trouble.last_error)
            ),
            None,
        )
    if not ran.result.ok or _changes_since(known, trouble, recorded):
        return None
    return next((one for one in ran.forms if command_forms.is_with_more(failed, one)), None)


def _changes_since(
    known: ProjectState, trouble: TrackedFailure, recorded: Recorded
) -> list[TrackedEdit]:
    return [
        edit
        for edit in known.edits
        if trouble.last_seq < edit.seq < recorded.seq
        and not edit.reverted_by
        and edit.ground.root == recorded.root
    ]


def _told(
    known: ProjectState, trouble: TrackedFailure, ran: EndedCommand, form: InvocationForm
) -> Step:
    failed, origin = trouble.form or form, trouble.origin or origin_of(ran.recorded)
    pair = (trouble.items[-1], ran.item)
    before = next(
        (
            one
            for one in known.alternatives
            if (one.failed.line, one.worked.line) == (failed.line, form.line)
        ),
        None,
    ) or Alternative(
        failed=failed,
        worked=form,
        origin=origin,
        reason=trouble.unstarted,
        error=trouble.last_error,
        signature=trouble.signature,
    )
    pairs = (*before.pairs, pair)[-_PAIRS:]
    after = replace(before, times=before.times + 1, pairs=pairs, is_refuted=False)
    kept = [one for one in known.alternatives if one != before]
    remedies = [
        edit
        for edit in _changes_since(known, trouble, ran.recorded)
        if edit.remedy == "install" and trouble.unstarted == "missing"
    ]
    story_after = replace(
        known,
        alternatives=(*kept, after)[-ALTERNATIVES:],
        troubles=tuple(one for one in known.troubles if one is not trouble),
    )
    return story_after, (fix_text.alternative_item(after, remedies, ran.recorded),)


_MET = 60
_ERRORS = 4


def is_repair(mended: ResolvedFailures) -> bool:
    """Return True if nothing but a fixer made the difference."""
    return all(edit.remedy == "fixer" for edit in mended.edits)


def with_repair(
    known: ProjectState, mended: ResolvedFailures, recorded: Recorded
) -> tuple[ProjectState, Item]:
    """Return the story and the fix of a check and its fixer, with one more time that it was met."""
    trouble, by = mended.troubles[0], mended.edits[-1].said
    key = (trouble.of.program, by)
    before = next((one for one in known.repairs if (one.program, one.by) == key), None) or Repair(
        program=key[0], head=trouble.head, by=by, origin=origin_of(recorded)
    )
    fixer = mended.edits[-1].item
    met = [(item, fixer, mended.passed) for one in mended.troubles for item in one.items[-1:]]
    errors = [one.last_error or one.said for one in mended.troubles]
    signatures = [one.signature for one in mended.troubles]
    spans = [mended.edits[-1].seq - one.last_seq for one in mended.troubles]
    after = replace(
        before,
        times=before.times + 1,
        met=(*before.met, *met)[-_MET:],
        errors=distinct(filter(None, (*errors, *before.errors)), _ERRORS),
        spans=(*before.spans, *spans)[-_MET:],
        signatures=distinct(filter(None, (*signatures, *before.signatures)), _ERRORS),
    )
    others = [one for one in known.repairs if one is not before]
    made = fix_text.repair_item(after, mended, recorded)
    return replace(known, repairs=(*others, after)[-REPAIRS:]), made
