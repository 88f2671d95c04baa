"""What must be said of an item that the world has moved on from, in words for people and models.

What a language model wrote about an item, as the tools return it: apart, and marked.
"""

from __future__ import annotations

import orjson
from msgspec import UNSET, UnsetType

from observer.core.model import Item, Reason, Validity
from observer.search.rank import is_proposed
from observer.views.moment import day
from observer.views.tool import ResultRow

HASH = 10
"""Characters of a commit's name that are shown."""
_MINUTE_MS = 60_000
_SPANS = ((1440, "day"), (60, "hour"), (1, "minute"))
_FORMS: dict[Reason, str] = {
    "changed": "{stale}: {told.subject} changed{when}",
    "deleted": "{stale}: {told.subject} removed{when}",
    "renamed": "{told.subject} is now {told.path}",
    "reverted": "reverted{when}",
    "elsewhere": "its commit is not in this history",
    "superseded": "superseded by #{told.target}",
    "supersedes": "replaces #{told.target}{before}",
    "amended": "amended by #{told.target}",
    "amends": "amends #{told.target}{before}",
}


def labels(item: Item) -> list[str]:
    """Return a short text for each thing that must be said."""
    return [*_of_note(item), *(_label(each, item) for each in item.validity)]


def accused(item: Item, text: str) -> str:
    """Return what is shown of an item alone, behind its suspicion if there is one."""
    return f"(suspicious: {item.suspicion}) {text}" if item.suspicion else text


def _of_note(item: Item) -> list[str]:
    """Return what its author, or the lack of a person, says of a note."""
    said: list[str] = [item.approval] if item.approval else []
    if is_proposed(item):
        said.append("proposed")
    if item.suspicion:
        said.append(f"suspicious: {item.suspicion}")
    if item.expires_ms is not None:
        said.append(f"holds until {day(item.expires_ms)}")
    return said


def _label(told: Validity, item: Item) -> str:
    form = _FORMS[told.reason]
    if told.reason == "elsewhere" and told.branch:
        form = "on branch {told.branch}, not here"
    stale = "stale" if told.share >= 1 else f"stale in part ({told.share:.0%})"
    return form.format(told=told, stale=stale, when=_when(told, item), before=_before(told))


def _before(told: Validity) -> str:
    """Return since when the other item had said what."""
    _, _, title = told.subject.partition(" ")
    return f" of {day(told.since_ms)}: {title}" if title else ""


def _when(told: Validity, item: Item) -> str:
    """Return which commit it was, and how long after the item."""
    where = f" in {told.commit[:HASH]}" if told.commit else ""
    if not told.since_ms:
        return where
    minutes = max(0, told.since_ms - item.created_ms) // _MINUTE_MS
    for length, name in _SPANS:
        if count := minutes // length:
            return f"{where}, {count} {name}{'s' if count > 1 else ''} after"
    return f"{where}, soon after"


def json_characters(shell: int, item: Item, *texts: str) -> int:
    """Return how many characters a row of an item has as JSON.

    Args:
        shell: characters of the row without its texts, an id of 0 and a comma included.
        item: what the row is of; its type and its labels count too.
        texts: what else the row tells.
    """
    said = labels(item)
    told = (item.type, *texts, *said)
    listed = len(',"validity":[]') + len('"",') * len(said) if said else 0
    return (
        shell
        + len(str(item.id))
        + sum(len(orjson.dumps(text).decode()) - 2 for text in told)
        + listed
    )


class Written(ResultRow):
    """What the language model `by` wrote; everything else of an item is made without one.

    `is_outdated` says that the item has changed since.
    """

    by: str
    narrative: str
    learned: str | None
    next_steps: str | None
    concepts: str | None
    is_outdated: bool


def written(item: Item) -> Written | UnsetType:
    """Show what was written about an item; left out where nothing was."""
    wrote = item.enrichment
    if wrote is None:
        return UNSET
    return Written(
        by=wrote.model,
        narrative=wrote.narrative,
        learned=wrote.learned or None,
        next_steps=wrote.next_steps or None,
        concepts=", ".join(wrote.concepts) or None,
        is_outdated=item.updated_ms > wrote.as_of_ms,
    )
