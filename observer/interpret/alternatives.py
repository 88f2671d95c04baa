"""Commands that work where another form of them does not: `bun test` instead of `rtk bun test`.

Part of interpretation (step 6), of the arcs. A form counts as not working where the command could
not do its work (`unstarted`), or where the same command passed with one setting more and nothing
was changed in between. A pair is told once in a project, and counts how often it was met.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from observer.interpret import arcs_told, commandline, forms, invocation
from observer.interpret.classify import origin_of
from observer.interpret.forms import Form
from observer.interpret.lessons import ALTERNATIVES, Alternative
from observer.interpret.story import Edited, Story, Trouble
from observer.interpret.unstarted import Unstarted
from observer.interpret.verdict import Verdict
from observer.model import Item, Recorded

Step = tuple[Story, tuple[Item, ...]]

WITHIN_MS = 2 * 3_600_000
"""What works so long after a failure is hardly the answer to it."""
_PAIRS = 20
_RAN = ("", "stopped")
"""Of a command that began to work its words are right: it may lack a setting."""


class Ran(NamedTuple):
    """A command line that ended, and the observation that tells of it."""

    recorded: Recorded
    command: str
    verdict: Verdict
    item: int
    is_unstarted: bool

    @property
    def forms(self) -> tuple[Form, ...]:
        """The commands of the line that do something."""
        folder = invocation.folder_of(
            commandline.parts_of(self.command), self.recorded.root, self.recorded.event.cwd
        )
        return forms.forms_of(self.command, folder=folder)

    @property
    def has_run(self) -> bool:
        """Whether its program did its work, whatever it found."""
        verdict = self.verdict
        is_judged = verdict.is_check and (verdict.passed is not None or verdict.failed is not None)
        return not self.is_unstarted and (verdict.ok is not False or is_judged)


def failing_form(ran: Ran, why: Unstarted) -> Form | None:
    """Return the command of a line that failed: the one that the message blames, or the last."""
    every = ran.forms
    blamed = [form for form in every if why.name and why.name in form.words]
    return next(iter(blamed), every[-1] if every else None)


def worked(known: Story, ran: Ran) -> Step:
    """Note a command that ended; where it is what an earlier one was meant to be, tell so."""
    if not ran.has_run:
        return known, ()
    known = _without_refuted(known, ran)
    for trouble in reversed(known.troubles):
        if form := _instead_of(known, trouble, ran):
            return _told(known, trouble, ran, form)
    return known, ()


def _without_refuted(known: Story, ran: Ran) -> Story:
    """Note that a form works after all which had failed: somebody installed what it lacked."""
    if ran.verdict.ok is not True or len(ran.forms) != 1:
        return known
    (form,) = ran.forms
    marked = tuple(
        replace(one, is_refuted=one.is_refuted or forms.is_same(one.failed, form))
        for one in known.alternatives
    )
    return known if marked == known.alternatives else replace(known, alternatives=marked)


def _instead_of(known: Story, trouble: Trouble, ran: Ran) -> Form | None:
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
            (one for one in ran.forms if forms.is_other_form(failed, one, trouble.last_error)),
            None,
        )
    if not ran.verdict.ok or _changes_since(known, trouble, recorded):
        return None
    return next((one for one in ran.forms if forms.is_with_more(failed, one)), None)


def _changes_since(known: Story, trouble: Trouble, recorded: Recorded) -> list[Edited]:
    return [
        edit
        for edit in known.edits
        if trouble.last_seq < edit.seq < recorded.seq
        and not edit.gone
        and edit.ground.root == recorded.root
    ]


def _told(known: Story, trouble: Trouble, ran: Ran, form: Form) -> Step:
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
    return story_after, (arcs_told.alternative(after, remedies, ran.recorded),)
