"""Reads of items: by the conditions of filters, notes, signals, enrichments, and across items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from observer.core.events import Layer, Triage
from observer.core.filters import OURS, Filters
from observer.core.model import (
    FORMERLY,
    Enrichment,
    EntityRelation,
    Item,
    Link,
    LlmUsage,
    NoteHeader,
    Recorded,
    item_id,
    spelling_key,
    title_key,
)
from observer.store.anchors import AnchorReads, ValidityById
from observer.store.rows import (
    AMONG,
    ITEM_COLUMNS,
    KEY_END,
    RECORDED_COLUMNS,
    Row,
    among,
    built,
    json_text,
    marks,
    to_enrichment,
    to_item,
    to_links,
    to_recorded,
    to_strings,
)

_LAYERS = {layer: layer for layer in get_args(Layer)}
Condition = tuple[str, list[Any]]
"""A condition on items, and its values."""
NO_PROJECT: Condition = ("project_id IS NULL", [])
VISIBLE = "(item.scope <> 'personal' OR item.owner = ?)"
_TOUCHED = """instr(replace(item.files_modified || item.files_read, '"', '/'), ?)"""
"""As `filters.touches`, in lists as they are written: quotes end a path, slashes its parts."""
_OWN = "(item.owner = ? AND item.owner <> '')"
"""Of personal items alone; said so that the index of owners serves."""
_TAGGED = "EXISTS (SELECT 1 FROM json_each(item.tags) WHERE value = ?)"
_COMMITTER = """CASE WHEN item.type = 'commit' AND instr(item.subtitle, ' by ')
    THEN substr(item.subtitle, instr(item.subtitle, ' by ') + 4) END"""
"""As `filters.commit_author`."""
_NEXT_PERSON = "SELECT min(person) FROM item WHERE person <> '' AND deleted_ms IS NULL"
Grouping = Literal["tags", "category", "type", "layer"]
"""What items are counted by."""
# The first halves are word for word the conditions of `item_summary` and `item_large`.
_SUMMARIES = (
    "deleted_ms IS NULL AND kind = 'summary' AND person = ''"
    " AND (enrichment IS NULL OR updated_ms > json_extract(enrichment, '$.as_of_ms'))"
)
_LARGE = (
    "deleted_ms IS NULL AND kind = 'observation' AND discovery_tokens >= 2000"
    " AND enrichment IS NULL"
)
# Joined by OR, all notes would be read.
_TITLED = (
    "SELECT id FROM item WHERE title_key = ? AND kind = 'note' AND deleted_ms IS NULL"
    " UNION ALL SELECT item FROM note_alias WHERE title_key = ?"
    " UNION ALL SELECT source FROM link"
    f" WHERE title_key = ? AND title_key <> '' AND kind = '{FORMERLY}'"
)
_OVER = "(session_id IS NULL OR session_id NOT IN (SELECT id FROM session WHERE status = 'active'))"
_numbers = msgspec.json.Decoder(tuple[int, ...]).decode


class Work(NamedTuple):
    """What an item did, without its texts."""

    created_ms: int
    id: int
    project_id: int | None
    type: str
    category: str
    files_modified: tuple[str, ...]
    files_read: tuple[str, ...]


class ItemReads(AnchorReads):
    """Reads of items; deleted ones are never returned, but by `item(..., deleted=True)`.

    `filters.files` are compared with the paths that items have, not with those of `moved_to`.
    """

    def items(self, ids: Sequence[int], *, validity: ValidityById | None = None) -> list[Item]:
        """Return the items that exist, in the order of `ids`; unknown ids are left out.

        `validity` is that of all of them, if the caller has read it already.
        """
        if not ids:
            return []
        there = self._items(f"id {AMONG} AND deleted_ms IS NULL", (among(ids),), validity)
        found = {item.id: item for item in there}
        return [found[item_id] for item_id in ids if item_id in found]

    def work(self, ids: Sequence[int]) -> list[Work]:
        """Return what items did, newest first; it costs a tenth of `items`."""
        rows = self._rows(
            f"SELECT {', '.join(Work._fields)} FROM item"
            f" WHERE id {AMONG} AND deleted_ms IS NULL ORDER BY created_ms DESC, id DESC",
            (among(ids),),
        )
        return [
            Work._make((*fields, to_strings(made), to_strings(read)))
            for *fields, made, read in rows
        ]

    def _items(
        self, tail: str, values: Sequence[object], known: ValidityById | None = None
    ) -> list[Item]:
        rows = self._rows(f"SELECT {ITEM_COLUMNS} FROM item WHERE {tail}", values)
        items = list(map(to_item, rows))
        if known is None:
            known = self.validity([item.id for item in items])
        return [
            msgspec.structs.replace(item, validity=known[item.id]) if item.id in known else item
            for item in items
        ]

    def _newest(
        self, where: str, values: Sequence[object], places: Sequence[Condition], *, limit: int
    ) -> list[int]:
        """Return the items of some places for which a condition holds, newest first."""
        found: list[Row] = []
        # One place at a time, each in the order of its index.
        for place, place_values in places:
            found += self._rows(
                f"SELECT created_ms, id FROM item WHERE {place} AND {where}"
                " ORDER BY created_ms DESC, id DESC LIMIT ?",
                (*place_values, *values, limit),
            )
        return [item for _, item in sorted(found, reverse=True)[:limit]]

    def unenriched(self, *, limit: int, without: Sequence[int] = ()) -> list[Item]:
        """Return what waits for a language model, the newest first, not of projects `without`.

        First summaries that changed since one wrote about them, then observations about which none
        has, and whose original cost 2,000 tokens or more; none of sessions that go on.
        """
        found: list[Item] = []
        apart = f"(project_id IS NULL OR project_id NOT {AMONG})"
        for waiting in (_SUMMARIES, _LARGE):
            found += self._items(
                f"{waiting} AND {_OVER} AND {apart} ORDER BY created_ms DESC, id DESC LIMIT ?",
                (among(without), limit - len(found)),
            )
        return found

    def enrichments(self, ids: Sequence[int]) -> Mapping[int, Enrichment]:
        """Return what language models wrote about items, by id; most have nothing."""
        rows = self._rows(
            f"SELECT id, enrichment FROM item WHERE id {AMONG} AND enrichment IS NOT NULL",
            (among(ids),),
        )
        return {item_id: to_enrichment(text) for item_id, text in rows}

    def spending(self, day: str) -> LlmUsage:
        """Return what language models cost on a day (UTC, e.g. ``2026-11-22``)."""
        rows = self._rows("SELECT tokens, requests FROM llm_spending WHERE day = ?", (day,))
        return built(LlmUsage, rows[0]) if rows else LlmUsage()

    def item(self, item_id: int, *, deleted: bool = False) -> Item | None:
        """Return one item; with `deleted` also one that was deleted."""
        # A reader may ask for any number, and SQLite takes none of more than 64 bits as a value.
        values = (among([item_id]), deleted)
        return next(iter(self._items(f"id {AMONG} AND (? OR deleted_ms IS NULL)", values)), None)

    def history(self, item_id: int) -> list[Recorded]:
        """Return the events that made and changed a note, by `seq`; also of a deleted one."""
        of_note = "seq IN (SELECT seq FROM note_event WHERE item_id = ?) ORDER BY seq"
        chosen = f"SELECT {RECORDED_COLUMNS} FROM event WHERE {of_note}"
        return list(map(to_recorded, self._rows(chosen, (item_id,))))

    def titled(self, title: str, filters: Filters) -> list[Item]:
        """Return the notes that are called so, oldest first; those of no project come last.

        Those with an alias follow those with the title. Both compare by `model.title_key`.
        """
        key = title_key(title)
        where, values = _chosen(filters)
        return self._items(
            f"id IN ({_TITLED}) AND {where}"
            " ORDER BY project_id IS NULL, title_key <> ?, id LIMIT 10",
            (key, key, key, *values, key),
        )

    def naming(self, title: str, filters: Filters, *, limit: int) -> list[Item]:
        """Return the items that link to a title, compared as in `titled`, newest first."""
        where, values = conditions(filters)
        found = self._newest(
            "id IN (SELECT source FROM link WHERE title_key = ? AND title_key <> ''"
            f" AND kind <> '{FORMERLY}') AND {where}",
            (title_key(title), *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)

    def people(self) -> list[str]:
        """Return the names of those who shared something, in order."""
        # From one name to the next, since there are thousands of items of each.
        return self._column(
            f"WITH RECURSIVE name (each) AS ({_NEXT_PERSON} UNION ALL SELECT"
            f" ({_NEXT_PERSON} AND person > each) FROM name WHERE each IS NOT NULL)"
            " SELECT each FROM name WHERE each IS NOT NULL"
        )

    def stated_of(self, name: str, *, limit: int) -> list[tuple[int, EntityRelation]]:
        """Return what items say of an entity, whatever the spelling, the newest item first."""
        if not (key := spelling_key(name)):
            return []
        rows = self._rows(
            "SELECT item, source, kind, target FROM relation"
            " WHERE source_key = ?1 OR target_key = ?1 ORDER BY item DESC, place LIMIT ?2",
            (key, limit),
        )
        return [(item, EntityRelation(*ends)) for item, *ends in rows]

    def counts(self, grouping: Grouping, filters: Filters) -> Mapping[str, int]:
        """Count items by a column, the commonest first; those that have nothing there are none."""
        where, values = _chosen(filters)
        source = "item, json_each(item.tags) AS each" if grouping == "tags" else "item"
        column = "each.value" if grouping == "tags" else f"item.{grouping}"
        return dict(
            self._rows(
                f"SELECT {column}, count(*) FROM {source} WHERE {where} AND {column} <> ''"
                " GROUP BY 1 ORDER BY 2 DESC, 1",
                values,
            )
        )

    def sessions_between(self, from_ms: int, to_ms: int, clients: Sequence[str] = ()) -> list[int]:
        """Return the ids of sessions, of these or all clients, with events around that time."""
        return self._column(
            f"SELECT id FROM session WHERE (? OR client {AMONG})"
            " AND started_ms <= ? AND last_ms >= ? ORDER BY id",
            (not clients, among(clients), to_ms, from_ms),
        )

    def linked_to(self, ids: Sequence[int]) -> list[tuple[int, Link]]:
        """Return the links of living items that lead to one of the ids, by the ids of those."""
        # The index holds those that lead somewhere, and serves where the statement says so too.
        rows = self._rows(
            "SELECT source, kind, target, title FROM link"
            f" WHERE target <> 0 AND target {AMONG} ORDER BY source, place",
            (among(ids),),
        )
        return [(row[0], Link(kind=row[1], target=row[2], title=row[3])) for row in rows]

    def commits(self, project_id: int, hashes: Sequence[str], *, before: int) -> Mapping[str, int]:
        """Return the items of commits in the log before a `seq`, by whole hash; none of others."""
        keys = [f"commit:{one}" for one in hashes]
        rows = self._rows(
            "SELECT dedup, seq FROM event"
            f" WHERE project_id = ? AND dedup {AMONG} AND substr(dedup, -{KEY_END}) {AMONG}"
            " AND dedup <> '' AND seq < ?",
            (project_id, among(keys), among(one[-KEY_END:] for one in keys), before),
        )
        return {dedup.removeprefix("commit:"): item_id(seq) for dedup, seq in rows}

    def project_state(self, project_id: int) -> bytes:
        """Return what interpretation remembers of a project across sessions; empty for nothing."""
        stored = "SELECT state FROM project_state WHERE project_id = ?"
        found: bytes = self._value(stored, (project_id,), b"")
        return found

    def with_signature(self, signature: str, filters: Filters, *, limit: int) -> list[Item]:
        """Return the items about an error, none without a signature, newest first."""
        where, values = conditions(filters)
        found = self._newest(
            f"signature = ? AND signature <> '' AND {where}",
            (signature, *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)

    def newest_note_change(self) -> int:
        """Return the number of the last change of any note, deletions included; 0 without any."""
        newest = "SELECT max(change) FROM item WHERE kind = 'note'"
        return int(self._value(newest, default=0))

    def sketches(self, filters: Filters) -> Iterator[NoteHeader]:
        """Yield all notes that fit, by id; of filters those of places do not restrict."""
        where, values = conditions(filters)
        rows = self._connection.execute(
            "SELECT id, title, project_id, layer, tags, links, created_ms, updated_ms"
            # Else all items would be looked at, most of which are observations.
            " FROM item INDEXED BY item_note_change"
            f" WHERE kind = 'note' AND {where} ORDER BY id",
            values,
        )
        row: Row
        for row in rows:
            *fields, tags, links, created_ms, updated_ms = row
            lists = to_strings(tags), to_links(links)
            yield built(NoteHeader, (*fields, *lists, created_ms, updated_ms))

    def gone_titles(self) -> frozenset[str]:
        """Return what the titles of deleted notes compare by: `title_key`."""
        gone = "kind = 'note' AND deleted_ms IS NOT NULL"
        indexed = "item INDEXED BY item_note_change"
        return frozenset(self._column(f"SELECT title_key FROM {indexed} WHERE {gone}"))

    def triages(self, owner: str) -> Mapping[int, Triage]:
        """Return what somebody made of signals, by their ids, the newest first."""
        rows = self._rows(
            "SELECT signal, status, type, text, evidence, owner FROM triage WHERE owner = ?"
            " ORDER BY at_ms DESC, signal",
            (owner,),
        )
        return {
            signal: built(Triage, (signal, *said, _numbers(evidence), owner))
            for signal, *said, evidence, owner in rows
        }


def homes(filters: Filters) -> list[Condition]:
    """Return the places that filters name."""
    if filters.project_id is None:
        return [("1", [])]
    homes: list[Condition] = [("project_id = ?", [filters.project_id])]
    return [*homes, NO_PROJECT] if filters.with_global else homes


def is_notable(filters: Filters) -> bool:
    """Return True if filters exclude observations, which nearly all items are."""
    return bool(filters.kinds) and "observation" not in filters.kinds


def conditions(filters: Filters) -> tuple[str, list[Any]]:
    """Return the conditions that are no index terms, and their values."""
    seen = _OWN if filters.scope == "personal" else VISIBLE
    values: list[Any] = [filters.owner, *filter(None, [filters.owner_tag])]
    seen = f"({seen} OR {_TAGGED})" if filters.owner_tag else seen
    parts = ["item.deleted_ms IS NULL", seen]
    for condition, value in _rarer(filters):
        parts.append(condition)
        values.append(value)
    if is_notable(filters):
        parts.append("item.kind <> 'observation'")  # as the index of what is no observation
    for column, wanted in (
        ("kind", filters.kinds),
        ("type", filters.types),
        ("category", filters.categories),
    ):
        if wanted:
            # Of one type the newest come from its index; of several they would have to be sorted.
            unindexed = "+" if len(wanted) > 1 else ""
            parts.append(f"{unindexed}item.{column} IN ({marks(len(wanted))})")
            values.extend(wanted)
    for condition, value in (
        ("item.branch = ?", filters.branch or None),
        ("item.session_id = ?", filters.session_id),
        (
            f"item.session_id {AMONG}",
            filters.sessions if filters.sessions is None else among(filters.sessions),
        ),
        ("item.created_ms >= ?", filters.since_ms),
        # Ids are above 0: with none to go on behind it says that the time is before.
        (f"(item.created_ms, item.id) < (?, {filters.before_id:d})", filters.until_ms),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    if filters.files:
        parts.append(f"({' OR '.join([_TOUCHED] * len(filters.files))})")
        # As the lists of files that `_TOUCHED` looks at hold what touches it.
        written = (json_text(wanted.strip("/"))[1:-1] for wanted in filters.files)
        values.extend("/{}/".format(one.replace('"', "/")) for one in written)
    return " AND ".join(parts), values


def _rarer(filters: Filters) -> Iterator[tuple[str, object]]:
    """Yield what few questions restrict, most of it of notes; every condition has one value."""
    if filters.layer:
        # Written out, so that the index of rules serves.
        yield f"item.layer = '{_LAYERS[filters.layer]}' AND ?", 1
    if filters.scope:
        yield "item.scope = ?", filters.scope
    if filters.without:
        yield (f"(item.project_id IS NULL OR NOT item.project_id {AMONG})", among(filters.without))
    if filters.trusted_at_ms is not None:
        yield (
            (
                "item.suspicion = '' AND item.approval <> 'provisional'"
                " AND (item.expires_ms IS NULL OR item.expires_ms > ?)"
            ),
            filters.trusted_at_ms,
        )
    for tag in filters.tags:
        yield _TAGGED, tag
    if filters.by:
        yield f"? IN (item.person, {_COMMITTER})", filters.by
    if filters.whose:
        yield f"{'' if filters.whose == 'mine' else 'NOT '}item.person {AMONG}", among(OURS)


def _chosen(filters: Filters) -> tuple[str, list[object]]:
    """Return the whole condition of filters, their projects included."""
    where, values = conditions(filters)
    places = homes(filters)
    place = " OR ".join(text for text, _ in places)
    return f"({place}) AND {where}", [*(v for _, given in places for v in given), *values]
