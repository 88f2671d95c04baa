"""Candidates of a query from both legs of the search, words and vectors, with their signals.

Words find items that say the same, vectors items that say it in other words. Candidates of either
leg are scored by both, so that the signals of all candidates are comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from observer.core.filters import Filters
from observer.core.model import ItemKind
from observer.index import ListRequest, TopK, View
from observer.search.language import quoted
from observer.search.query import QueryPlan
from observer.search.rank import COMPARED, NEAR, HitSignals, relevance
from observer.search.signals import (
    Column,
    Found,
    QueryWords,
    Vector,
    by_chance,
    columns,
    doubt_of,
    no_columns,
)
from observer.store.interface import StoreReader

Leg = Literal["words", "meaning"]
LEGS: tuple[Leg, ...] = ("words", "meaning")


class Encode(Protocol):
    """Returns what a text means as a unit vector; None while no model is there."""

    def __call__(self, text: str, doubt: float = ..., /) -> Vector | None:
        """`doubt` says how little of the text its words find, 0 to 1."""


BY_WORDS = 60
"""Candidates of each leg, where no other number is wanted.

Source: more change nDCG@10 on the development sets by 0.02 points.
"""

MOST_MATCHES = 5_000
"""Items, the newest, that may fit an expression with operators, or a file, and are ranked."""

NO_MEANING = "searched by words alone: the model of meanings is not ready"

NOT_COMPLETE = "the newest items are not searched yet: the index is being made"

LEAST_BARE = 0.005
"""Share of items without a vector that is worth a word."""

SEARCHED: tuple[ItemKind, ...] = ("observation", "note", "summary")
"""Kinds that a query finds when none is named."""
_RECORDED: tuple[ItemKind, ...] = ("record", *SEARCHED)
"""The same where a type or category is named, which may be one of records."""


def searched(filters: Filters) -> tuple[ItemKind, ...]:
    """Return the kinds that a query with these filters finds."""
    return filters.kinds or (_RECORDED if filters.types or filters.categories else SEARCHED)


class Sources(NamedTuple):
    """One snapshot of the memory: its rows, its index, and the way from a text to its meaning."""

    reader: StoreReader
    view: View
    encode: Encode


class Candidates:
    """Items that a query may mean, and what speaks for each: a column of figures, 0 to 1, a signal.

    Which signals there are: see `rank.HitSignals`. `weights` say by what the score of each is to be
    multiplied for what it is: a prompt that only asks is no answer. `degraded` says why some
    items may be missing. `by_chance` is how many items may hold all words of the query by chance.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        lists: int,
        degraded: str,
        by_chance: float = 0.0,
    ) -> None:
        self.by_chance = by_chance
        self.ids: list[int] = columns["ids"].tolist()
        self.weights = dict(zip(self.ids, columns["weight"].tolist(), strict=True))
        self.degraded = degraded
        self._columns = columns
        # One by one, figures of an array take three times as long as those of a list.
        self._figures = {name: columns[name].tolist() for name in COMPARED}
        self._lists = lists
        self._words: list[str] = columns["words"].tolist()
        self._places = {item_id: place for place, item_id in enumerate(self.ids)}

    def lists(self) -> list[list[int]]:
        """Return the ids of each list, those that fit the query best first; of equals the newest.

        Where summaries and others are wanted, and without kinds in the filters, the second list is
        that of summaries.
        """
        worth = relevance(**{name: self._columns[name] for name in COMPARED})
        order = np.lexsort((-self._columns["ids"], -worth * self._columns["weight"]))
        numbers = self._columns["list"][order]
        ids = self._columns["ids"][order]
        return [ids[numbers == number].tolist() for number in range(self._lists)]

    def signalled(self) -> frozenset[int]:
        """Return those that have a signal: see `rank.has_signal`."""
        has_one = (self._columns["fts5"] > 0) | (self._columns["semantic"] >= NEAR)
        return frozenset(self._columns["ids"][has_one].tolist())

    def signals(self, item_id: int, *, recency: float, project_match: float = 0.0) -> HitSignals:
        """Return what speaks for an item; for one that is no candidate nothing beside these."""
        place = self._places.get(item_id)
        if place is None:
            return HitSignals(recency=recency, project_match=project_match)
        columns = self._columns
        return HitSignals(
            **{name: figures[place] for name, figures in self._figures.items()},
            recency=recency,
            project_match=project_match,
            terms=tuple(compress(self._words, columns["held"][place].tolist())),
            words_rank=int(columns["words_rank"][place]) or None,
            meaning_rank=int(columns["meaning_rank"][place]) or None,
            type_weight=self.weights[item_id],
        )


def candidates(
    sources: Sources,
    wanted: QueryPlan,
    filters: Filters,
    *,
    legs: Sequence[Leg] = LEGS,
    most: int = BY_WORDS,
) -> Candidates:
    """Find what a plan may mean among the items that fit the filters.

    Args:
        sources: where to look.
        wanted: what to look for.
        filters: what items must be.
        legs: which ways of finding to take.
        most: candidates that each leg finds of each list.
    """
    asked = lists_of(filters)
    view = sources.view
    if not wanted.words:
        return Candidates(no_columns(), lists=len(asked), degraded="")
    among, cut = _among(sources.reader, wanted, filters)
    lists = [
        ListRequest(
            view.mask(msgspec.structs.replace(filters, kinds=kinds), among),
            most,
        )
        for kinds in asked
    ]
    query = QueryWords(sources.reader, sources.view, wanted)
    by_words = view.by_words(query.codes, lists) if "words" in legs else []
    doubt = doubt_of(view, query, by_words)
    vector = sources.encode(wanted.text, doubt) if "meaning" in legs else None
    # An expression says what must hold: its matches are ranked by meaning, not found by it.
    by_vector = [] if vector is None or wanted.expression else _by_vector(view, vector, lists, most)
    late = "" if view.is_complete else NOT_COMPLETE

    bare = _bare(view, has_model=vector is not None) if "meaning" in legs else ""
    return Candidates(
        columns(view, query, vector, lists, Found(by_words, by_vector, doubt)),
        lists=len(lists),
        degraded="; ".join(filter(None, (cut, late, bare))),
        by_chance=by_chance(view, query),
    )


def _by_vector(view: View, vector: Vector, lists: Sequence[ListRequest], most: int) -> list[TopK]:
    """Find what means the same, for whichever list: the nearest of one alone may all be far."""
    of_any = np.logical_or.reduce([each.mask for each in lists])
    return view.by_vector(vector, [ListRequest(of_any, most)])


def _bare(view: View, *, has_model: bool) -> str:
    """Return what keeps items from being found by their meaning."""
    if not has_model:
        return NO_MEANING
    bare = 1 - view.embedded
    if bare < LEAST_BARE:
        return ""
    return f"{bare:.0%} of the items are found by words alone until the daemon has embedded them"


def _among(
    reader: StoreReader, wanted: QueryPlan, filters: Filters
) -> tuple[NDArray[np.int64] | None, str]:
    """Return the items that fit what only the store can match (None: all), and what is missing."""
    expressions = [wanted.expression] if wanted.expression else []
    if filters.files:
        expressions.append(f"files : ({' OR '.join(map(quoted, filters.files))})")
    # Of a person's own notes alone, the index knows all by itself.
    is_indexed = not (
        filters.tags or filters.owner_tag or filters.layer or filters.scope in {"project", "team"}
    )
    if not expressions and is_indexed:
        return None, ""
    ids = (
        reader.match(f"({') AND ('.join(expressions)})", filters, limit=MOST_MATCHES)
        if expressions
        else reader.ids(filters, limit=MOST_MATCHES)
    )
    if filters.files and not wanted.expression:
        ids += reader.moved_to(filters.files, limit=MOST_MATCHES)
    cut = f"only the newest {MOST_MATCHES:,} matches were ranked; narrow the query"
    return np.array(sorted(set(ids)), np.int64), cut if len(ids) >= MOST_MATCHES else ""


def lists_of(filters: Filters) -> list[tuple[ItemKind, ...]]:
    """Return the kinds of each list of an answer: summaries have one of their own."""
    kinds = searched(filters)
    summaries = tuple(kind for kind in kinds if kind == "summary")
    others = tuple(kind for kind in kinds if kind != "summary")
    return [part for part in (others, summaries) if part]
