"""Reads that only notes need: their history, their titles, and what they are grouped by."""

from __future__ import annotations

from collections.abc import Mapping

from observer.filters import Filters
from observer.model import Item, Recorded, title_key
from observer.store.interface import Grouping
from observer.store.sqlite.rows import RECORDED_COLUMNS, to_recorded
from observer.store.sqlite.selecting import Selecting, conditions, homes
from observer.store.sqlite.standing import AMONG, among


class NoteReads(Selecting):
    """The part of `store.interface.Reader` that is about notes."""

    def item(self, item_id: int, *, deleted: bool = False) -> Item | None:
        """See `Reader.item`."""
        # A reader may ask for any number, and SQLite takes none of more than 64 bits as a value.
        values = (among([item_id]), deleted)
        found = self._items(f"id {AMONG} AND (? OR deleted_ms IS NULL)", values)
        return found[0] if found else None

    def history(self, item_id: int) -> list[Recorded]:
        """See `Reader.history`."""
        rows = self._rows(
            f"SELECT {RECORDED_COLUMNS} FROM event"
            " WHERE seq IN (SELECT seq FROM note_event WHERE item_id = ?) ORDER BY seq",
            (item_id,),
        )
        return [to_recorded(row) for row in rows]

    def titled(self, title: str, filters: Filters) -> list[Item]:
        """See `Reader.titled`."""
        where, values = _chosen(filters)
        return self._items(
            f"title_key = ? AND kind = 'note' AND {where} ORDER BY project_id IS NULL, id LIMIT 10",
            (title_key(title), *values),
        )

    def naming(self, title: str, filters: Filters, *, limit: int) -> list[Item]:
        """See `Reader.naming`."""
        where, values = conditions(filters)
        found = self._newest(
            f"id IN (SELECT source FROM link WHERE title_key = ? AND title_key <> '') AND {where}",
            (title_key(title), *values),
            homes(filters),
            limit=limit,
        )
        return self.items(found)

    def counts(self, grouping: Grouping, filters: Filters) -> Mapping[str, int]:
        """See `Reader.counts`."""
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


def _chosen(filters: Filters) -> tuple[str, list[object]]:
    """Return the whole condition of filters, their projects included."""
    where, values = conditions(filters)
    places = homes(filters)
    place = " OR ".join(text for text, _ in places)
    return f"({place}) AND {where}", [*(v for _, given in places for v in given), *values]
