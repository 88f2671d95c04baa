"""Which changes are told as the cause that a check passes again.

Part of interpretation (step 6), of the arcs. What was changed since the last failing run counts,
and before it what changed the failure. Where some of it is a likely cause (`relation`), only that
is told; else all that was changed in the sessions that saw the failure. A check that was left red
and passes in a later session needs a likely cause: without one nobody knows what mended it.
"""

from __future__ import annotations

from collections.abc import Sequence

from observer.interpret.relation import LIKELY, strength
from observer.interpret.story import Edited, Story, Trouble
from observer.model import Recorded

_FILES = 4
"""Most files of which none is a likely cause: more than these is the work, not the repair."""


def causes_of(known: Story, trouble: Trouble, recorded: Recorded) -> list[Edited]:
    """Return what mended a failure, as far as anything tells."""
    changes = [edit for edit in known.edits if _can_count(edit, trouble)]
    rated = [(edit, strength(edit, trouble)) for edit in changes]
    since = [(edit, rate) for edit, rate in rated if edit.seq > trouble.last_seq and rate]
    likely = [edit for edit, rate in since if rate == LIKELY]
    if likely:
        earlier = [edit for edit, rate in rated if edit.seq < trouble.last_seq and rate == LIKELY]
        found = [edit for edit in earlier if edit.seq > trouble.tried] + _until_fixed(likely)
    elif recorded.session_id in trouble.sessions:
        own = [edit for edit, _ in since if edit.session in (None, recorded.session_id)]
        found = _last_files(own)
    else:
        found = []
    helped = [edit for edit in changes if edit.seq in trouble.helped and edit not in found]
    return sorted([*helped, *found], key=lambda edit: edit.seq)


def _can_count(edit: Edited, trouble: Trouble) -> bool:
    return (
        trouble.seq < edit.seq
        and not edit.gone
        and edit.sort != "probe"
        and not (edit.has_failed and edit.remedy != "fixer")
        and not _is_retry(edit, trouble)
        and edit.ground == trouble.ground
        and trouble.of.program not in edit.fixed
        and (edit.sort != "undo" or edit.since < trouble.seq)
    )


def _is_retry(edit: Edited, trouble: Trouble) -> bool:
    """Return True if a command is what had failed, run once more, and no `--fix` of it."""
    if edit.remedy == "fixer":
        return trouble.of.mends and trouble.head.endswith(edit.said)
    return edit.sort == "command" and edit.said == trouble.head


def _until_fixed(likely: list[Edited]) -> list[Edited]:
    """Return the changes up to the last fixer that got through: it left nothing to mend."""
    fixers = [
        place for place, edit in enumerate(likely) if edit.remedy == "fixer" and not edit.has_failed
    ]
    return likely[: fixers[-1] + 1] if fixers else likely


def _last_files(edits: Sequence[Edited]) -> list[Edited]:
    """Return the changes of the files that were changed last, commands with them."""
    files = list(dict.fromkeys(edit.path for edit in reversed(edits) if edit.path))
    told = set(files[:_FILES])
    return [edit for edit in edits if not edit.path or edit.path in told]
