"""Answer what hangs on an entity, as text and as JSON: counts, the newest of each sort, ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET, UnsetType

from observer.core.clock import now_ms
from observer.core.errors import NotFound
from observer.core.text import ago, counted
from observer.memory.graph import NamedCount, Related
from observer.tools import compact, render
from observer.tools.compact import ItemLine
from observer.tools.render import ProjectName, one_line
from observer.tools.tool import ResultRow, ToolResult

NAME_CHARS = 80
MOST_SHOWN = 8
"""Most files, people and relations of the text; the JSON has more."""


class CountLine(ResultRow):
    """A file or person: in how many of the items, and when last."""

    name: str
    count: int
    last_at: str


class SortLine(ResultRow):
    """Items of one sort: how many there are, and the newest of them."""

    sort: str
    total: int
    items: list[ItemLine]


class RelationLine(ResultRow):
    """What the memory `id` says of two entities."""

    id: int
    source: str
    relationship: str
    destination: str


class RelatedResult(ResultRow):
    """Result of `related`; `kinds` are what the name is."""

    name: str
    kinds: list[str]
    total: int
    files: list[CountLine]
    people: list[CountLine]
    groups: list[SortLine]
    relations: list[RelationLine] | UnsetType = UNSET
    notice: str | UnsetType = UNSET


def answer(found: Related, name: ProjectName) -> ToolResult[RelatedResult]:
    """Return an answer as a tool gives it.

    Raises:
        NotFound: nothing hangs on the name.
    """
    if not found.total:
        raise NotFound(
            f"nothing names {found.name[:NAME_CHARS]!r}",
            hint="give it whole and as it is spelled, or search for words of it",
        )
    notice = "only the newest items were looked at" if found.is_cut else ""
    result = RelatedResult(
        name=_shown(found.name),
        kinds=list(found.kinds),
        total=found.total,
        files=_counts(found.files),
        people=_counts(found.people),
        groups=[
            SortLine(
                sort=group.sort,
                total=group.total,
                items=[compact.item_line(item, name) for item in group.items],
            )
            for group in found.groups
        ],
        relations=[
            RelationLine(
                id=item,
                source=_shown(one.source),
                relationship=_shown(one.kind),
                destination=_shown(one.target),
            )
            for item, one in found.relations
        ]
        or UNSET,
        notice=notice or UNSET,
    )
    return ToolResult("\n".join(_lines(found, name, notice)), result)


def _lines(found: Related, name: ProjectName, notice: str) -> Iterator[str]:
    now = now_ms()
    what = " and ".join(found.kinds[:2]) or "mentioned"
    last = f"last {ago(now - found.last_ms)}"
    yield f"{_shown(found.name)} · {what} · {counted(found.total, 'item')}, {last}"
    if notice:
        yield f"({notice})"
    if found.files:
        yield f"files: {_listed([f'{_shown(one.name)} {one.count}' for one in found.files])}"
    if found.people:
        shown = [
            f"{_shown(one.name)} {one.count}, {ago(now - one.last_ms)}" for one in found.people
        ]
        yield f"people: {_listed(shown, '; ')}"
    for group in found.groups:
        more = f", the newest {len(group.items)}" if group.total > len(group.items) else ""
        yield f"{group.sort} ({group.total:,}{more}):"
        yield from (f"  {render.heading(item, name)}" for item in group.items)
    if found.relations:
        yield "relations:"
        yield from (f"  #{item} {_shown(str(one))}" for item, one in found.relations[:MOST_SHOWN])


def _listed(shown: Sequence[str], by: str = ", ") -> str:
    more = f"{by}{len(shown) - MOST_SHOWN} more" if shown[MOST_SHOWN:] else ""
    return by.join(shown[:MOST_SHOWN]) + more


def _counts(found: Sequence[NamedCount]) -> list[CountLine]:
    return [
        CountLine(name=_shown(one.name), count=one.count, last_at=compact.minute(one.last_ms))
        for one in found
    ]


def _shown(name: str) -> str:
    return one_line(name, 2 * NAME_CHARS)
