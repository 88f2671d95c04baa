"""Labels for items that are out of date, superseded, unapproved or suspicious."""

from __future__ import annotations

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from observer.core.clock import now_ms
from observer.core.model import Item, Reason, Validity
from observer.core.moment import day
from observer.core.text import ago, one_line, span_text
from observer.tools.fence import defused
from observer.tools.tool import Row, shortened

HASH = 10
"""Characters of a commit's name that are shown."""
SUBJECT = 80
"""Most characters of what has changed, in a list."""
NAME = 40
"""Most characters of who shared an item; a name is text of others."""
LEAST_SHARE = 0.1
"""Of what an item touched, that must have changed to be said in a list."""

_FORMS: dict[Reason, str] = {
    "changed": "{stale}: {mark.subject} changed{when}",
    "deleted": "{stale}: {mark.subject} removed{when}",
    "renamed": "{mark.subject} is now {mark.path}",
    "reverted": "reverted{when}",
    "elsewhere": "its commit is not in this history",
    "superseded": "superseded by #{mark.target}{before}",
    "supersedes": "replaces #{mark.target}{before}",
    "amended": "amended by #{mark.target}{before}",
    "amends": "amends #{mark.target}{before}",
}


def labels(item: Item, *, whole: bool = False) -> list[str]:
    """Return a short text for each caveat of an item: author, approval, suspicion, validity.

    Unless `whole`, long names are cut, several moved files counted, changes to less than
    `LEAST_SHARE` left out, and of what is stale in part only a note says where.
    """
    if whole:
        return [*_of_note(item), *(_label(each, item) for each in item.validity)]
    if not item.validity:
        return _of_note(item)
    marks = [each for each in item.validity if each.share >= LEAST_SHARE]
    moved = [each for each in marks if each.reason == "renamed"]
    if len(moved) > 1:
        marks = [each for each in marks if each.reason != "renamed"]
    said = [
        _label(replace(each, subject=shortened(each.subject, SUBJECT)), item, brief=True)
        for each in marks
    ]
    return [*_of_note(item), *said, *([f"{len(moved)} files moved"] if len(moved) > 1 else [])]


def with_suspicion(item: Item, text: str) -> str:
    """Return a text of an item, prefixed with the item's suspicion if there is one."""
    return f"(suspicious: {item.suspicion}) {text}" if item.suspicion else text


def _of_note(item: Item) -> list[str]:
    """Return the labels of a note, and whose words they are: approval, suspicion, expiry."""
    said = [f"by {person(item)}, {ago(now_ms() - item.created_ms)}"] if item.person else []
    said += [item.approval] if item.approval else []
    if item.suspicion:
        said.append(f"suspicious: {item.suspicion}")
    if item.expires_ms is not None:
        said.append(f"holds until {day(item.expires_ms)}")
    return said


def person(item: Item) -> str:
    """Return who shared an item, as it is shown; "" for this home's own."""
    return defused(one_line(item.person, NAME))


def _label(mark: Validity, item: Item, *, brief: bool = False) -> str:
    form = _FORMS[mark.reason]
    if brief and mark.share < 1 and item.kind != "note" and form.startswith("{stale}"):
        form = "{stale}"
    if mark.reason == "elsewhere" and mark.branch:
        form = "on branch {mark.branch}, not here"
    stale = "stale" if mark.share >= 1 else f"stale in part ({mark.share:.0%})"
    when = f" in {mark.commit[:HASH]}" if mark.commit else ""  # and how long after the item
    if mark.since_ms:
        when += f", {span_text(mark.since_ms - item.created_ms) or 'soon'} after"
    title = mark.subject.partition(" ")[2]  # of the other item
    before = f" of {day(mark.since_ms)}: {title}" if title else ""
    return form.format(mark=mark, stale=stale, when=when, before=before)


def written(item: Item) -> Row | UnsetType:
    """Return the row of what the language model `by` wrote about an item, UNSET if nothing was."""
    wrote = item.enrichment
    if wrote is None:
        return UNSET
    return {
        "by": wrote.model,
        "narrative": wrote.narrative,
        "learned": wrote.learned or None,
        "next_steps": wrote.next_steps or None,
        "concepts": ", ".join(wrote.concepts) or None,
        "is_outdated": item.updated_ms > wrote.as_of_ms,
    }
