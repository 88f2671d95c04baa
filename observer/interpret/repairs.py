"""Failures that a fixer mends: `npm run lint` fails, `npm run lint:fix`, and it passes.

Part of interpretation (step 6), of the arcs. Once for a check and its fixer that is worth knowing,
each time it is not: a project has one such fix, which counts how often it was met.
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.interpret import arcs_told
from observer.interpret.arcs_told import Mended
from observer.interpret.classify import origin_of
from observer.interpret.lessons import REPAIRS, Repair
from observer.interpret.story import Story
from observer.interpret.wording import distinct
from observer.model import Item, Recorded

_MET = 60
_ERRORS = 4


def is_repair(mended: Mended) -> bool:
    """Return True if nothing but a fixer made the difference."""
    return all(edit.remedy == "fixer" for edit in mended.edits)


def repaired(known: Story, mended: Mended, recorded: Recorded) -> tuple[Story, Item]:
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
    made = arcs_told.repair(after, mended, recorded)
    return replace(known, repairs=(*others, after)[-REPAIRS:]), made
