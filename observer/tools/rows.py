"""Rows of the core tools: short ones of lists, which say no more than the text, and full ones.

Clients pass models the JSON. The full rows of `get_observations` are a contract with clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
from msgspec import UNSET, UnsetType

from observer.core.model import Item, SummaryFields, iso
from observer.search.context import PackEntry
from observer.search.find import SearchHits
from observer.search.rank import Hit, is_stale
from observer.search.start import CardFact
from observer.tools import render
from observer.tools.labels import labels, written
from observer.tools.render import ProjectName
from observer.tools.tool import Row, row


def search_result(found: SearchHits, name: ProjectName, excerpts: Sequence[str]) -> Row:
    """Return hits with their `excerpts` and scores (0 to 1), summaries in a list of their own.

    `why` says that a hit is shown for another reason than that it holds words of the query.
    """
    lines = [
        item_line(hit.item, name, text)
        | row(score=round(hit.score, 2), why=render.mark(hit) or UNSET)
        for hit, text in zip(found.hits, excerpts, strict=True)
    ]
    return row(
        observations=[line for line in lines if line["type"] != "summary"],
        summaries=[line for line in lines if line["type"] == "summary"],
        notice=found.notice or UNSET,
        degraded=found.degraded or UNSET,
    )


def item_line(item: Item, name: ProjectName, excerpt: str = "") -> Row:
    """Return an item as a line of a list; what lies only on a server has the id 0 and a `uuid`."""
    return row(
        id=item.id,
        uuid=UNSET if item.id else item.uuid,
        type=item.type,
        title=render.one_line(item.title),
        text=excerpt if excerpt not in {"", item.title} else UNSET,
        project=name(item.project_id) or UNSET,
        created_at=minute(item.created_ms),
        validity=labels(item) or UNSET,
    )


def context_line(entry: PackEntry) -> Row:
    """Return an entry of a pack; `content` is the part of its text that was chosen for it."""
    item, content = entry.hit.item, render.one_line(entry.content, render.LONGEST_CONTENT)
    return row(
        id=item.id,
        type=item.type,
        title=render.one_line(item.title),
        content=content if content not in {"", item.title} else UNSET,
        created_at=minute(item.created_ms),
        validity=labels(item) or UNSET,
    )


def summary_line(item: Item) -> Row:
    """Return what a session was about as a row; empty answers are left out."""
    answers = item.summary or SummaryFields()
    shown = {
        field: render.one_line(getattr(answers, field), render.LONGEST_CONTENT) or UNSET
        for field in render.ANSWERS
    }
    return row(
        id=item.id,
        title=render.one_line(item.title),
        **shown,
        created_at=minute(item.created_ms),
        validity=labels(item) or UNSET,
        written=written(item),
    )


def card_line(line: CardFact) -> Row:
    """Return a fact of the resume card, cut as its text is cut: the item to fetch, why, when."""
    return row(
        id=line.item,
        why=render.one_line(line.why),
        text=render.one_line(line.text, line.most_chars),
        at=iso(line.at_ms) if line.at_ms else UNSET,
    )


def context_characters(entry: PackEntry) -> int:
    """Return an upper bound of the characters of `context_line` as JSON, a comma included."""
    item, said = entry.hit.item, labels(entry.hit.item)
    texts = (item.type, render.one_line(item.title), entry.content, *said)
    listed = len(',"validity":[]') + len('"",') * len(said) if said else 0
    characters = len(orjson.dumps(texts).decode()) - len("[]") - len('"",') * len(texts) + 1
    return _SHELL + len(str(item.id)) + characters + listed


def minute(at_ms: int) -> str:
    """Return a time to the minute, e.g. ``2026-11-21T09:12Z``."""
    return iso(at_ms)[:16] + "Z"


_SHELL = len('{"id":0,"type":"","title":"","content":"","created_at":""}') + len(minute(0))
"""Characters of an entry without its texts."""


def observation(item: Item, name: ProjectName) -> Row:
    """Return an item in full; the text of a note is in `text`, of any other in `narrative`."""
    is_note = item.kind == "note"
    return row(
        id=item.id,
        type=item.type,
        title=item.title,
        subtitle=item.subtitle or UNSET,
        text=item.narrative if is_note and item.narrative else UNSET,
        narrative=UNSET if is_note else item.narrative or UNSET,
        facts=_joined(item.facts, "\n"),
        concepts=_joined(item.concepts),
        files_read=_joined(item.files_read),
        files_modified=_joined(item.files_modified),
        project=name(item.project_id),
        created_at=iso(item.created_ms),
        created_at_epoch=item.created_ms,
        is_stale=int(is_stale(item)),
        discovery_tokens=item.discovery_tokens,
        commit=item.commit or UNSET,
        branch=item.branch or UNSET,
        key=item.key or UNSET,
        category=item.category or UNSET,
        answers=dict(render.answers(item)) or UNSET,
        validity=labels(item, whole=True) or UNSET,
        written=written(item),
    )


FIGURES = ("semantic", "fts5", "close", "phrase", "exact", "recency")
REASONS = (
    *("score", *FIGURES, "terms", "words_rank", "meaning_rank", "same", "lasting", "type_weight"),
)
"""The fields of `why`, but for the id."""


def why(hit: Hit) -> Row:
    """Return why an item was found: score and signals (0 to 1), rank in each retriever, terms.

    `same` are ids of duplicates that were left out. The score was multiplied by `lasting` since
    the item is partly out of date, and by `type_weight` since items of its type are seldom answers.
    """
    signals = hit.signals
    figures = {"score": hit.score, **{name: getattr(signals, name) for name in FIGURES}}
    factors = (("lasting", hit.lasting), ("type_weight", signals.type_weight))
    return row(
        id=hit.item.id,
        **{name: round(figure, 4) for name, figure in figures.items()},
        terms=list(signals.terms),
        words_rank=signals.words_rank or UNSET,
        meaning_rank=signals.meaning_rank or UNSET,
        same=list(hit.alike) or UNSET,
        **{name: round(figure, 4) for name, figure in factors if round(figure, 4) != 1},
    )


def _joined(parts: Iterable[str], by: str = ", ") -> str | UnsetType:
    return by.join(parts) or UNSET
