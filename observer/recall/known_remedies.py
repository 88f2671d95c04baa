"""Which command mended a failure before, where it takes effort to find that out.

A read, after a result that reads as failed. A change of the code is no remedy: the code has it
already, so what fails now fails for another reason. What whoever meets the failure runs next by
themselves (`lint:fix` after `lint`) need not be told.
"""

from __future__ import annotations

from observer.events import Value
from observer.filters import Filters
from observer.interpret import commandline
from observer.interpret.lessons import Repair
from observer.interpret.remedies import remedy_of
from observer.interpret.story import Story
from observer.model import Item, item_id
from observer.store.interface import Reader

SEEN = 50
"""Newest items of one failure that are looked at."""
OFTEN = 2
"""Times that a fixer must have mended a check."""
AT_ONCE = 2
"""Events within which a remedy was found at once."""
_CERTAIN = frozenset({"fixer", "install", "generate", "service"})


class Remedy(Value):
    """A command that mended a failure, how often, and the item that tells of it."""

    command: str
    times: int
    item: int


def find(
    reader: Reader, known: Story, signature: str, here: Filters, *, session_id: int | None
) -> Remedy | None:
    """Return the command that mends a failure; None if there is none, or everybody finds it.

    Args:
        reader: where to look.
        known: the story of the project.
        signature: of the failure.
        here: the project.
        session_id: the session at hand, whose own remedies are no news to it.
    """
    if not signature:
        return None
    for one in known.repairs:
        if signature in one.signatures and one.times >= OFTEN and not _is_obvious(one):
            return Remedy(command=one.by, times=one.times, item=item_id(one.origin.seq, "arc"))
    met = reader.with_signature(signature, here, limit=SEEN)
    fixes = [one for one in met if one.type == "fix" and not one.category]
    said = {command_of(one) for one in fixes}
    if len(said) != 1 or fixes[0].session_id == session_id:
        return None  # what was mended in several ways has no certain remedy
    command = said.pop()
    return Remedy(command=command, times=len(fixes), item=fixes[0].id) if command else None


def command_of(fix: Item) -> str:
    """Return the command that alone made the difference of a fix; "" if something else did."""
    causes = {link.excerpt for link in fix.links if link.kind == "edit"}
    parts = [part for said in causes for part in commandline.parts_of(said)]
    is_certain = len(causes) == 1 and parts and all(remedy_of(one) in _CERTAIN for one in parts)
    return causes.pop() if is_certain and not fix.files_modified else ""


def _is_obvious(one: Repair) -> bool:
    """Return True if mostly the fixer was the very next thing that was run."""
    return 2 * sum(span <= AT_ONCE for span in one.spans) >= len(one.spans)
