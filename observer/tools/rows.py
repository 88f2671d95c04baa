"""Full rows: the documented result fields of `get_observations`, and why a hit was found.

Names and shapes are a contract with clients: facts are one text with a line each, concepts and
files are one text joined by ``", "``. What is empty is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET, UnsetType

from observer.core.model import Item, iso
from observer.search.rank import Hit, is_stale
from observer.search.start import CardFact
from observer.tools import render
from observer.tools.labels import Written, labels, written
from observer.tools.render import ProjectName
from observer.tools.tool import ResultRow


class Observation(ResultRow, kw_only=True):
    """An item in full; `answers` is what the summary of a session says, by its fields."""

    id: int
    type: str
    title: str
    subtitle: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    narrative: str | UnsetType = UNSET
    facts: str | UnsetType = UNSET
    concepts: str | UnsetType = UNSET
    files_read: str | UnsetType = UNSET
    files_modified: str | UnsetType = UNSET
    project: str
    created_at: str
    created_at_epoch: int
    is_stale: int
    discovery_tokens: int
    commit: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    category: str | UnsetType = UNSET
    answers: dict[str, str] | UnsetType = UNSET
    validity: list[str] | UnsetType = UNSET
    written: Written | UnsetType = UNSET


class HitReasons(ResultRow):
    """Why an item was found: its score and signals (0 to 1), its rank in each retriever, its terms.

    `same` are ids of duplicates that were left out. The score was multiplied by `lasting` since
    the item is partly out of date, and by `type_weight` since items of its type are seldom answers;
    `use` decides between equal scores.
    """

    id: int
    score: float
    semantic: float
    fts5: float
    close: float
    phrase: float
    exact: float
    recency: float
    terms: list[str]
    words_rank: int | UnsetType = UNSET
    meaning_rank: int | UnsetType = UNSET
    same: list[int] | UnsetType = UNSET
    lasting: float | UnsetType = UNSET
    type_weight: float | UnsetType = UNSET


class ObservationsResult(ResultRow):
    """Result of `get_observations`, in the order of the ids; `missing_ids` do not exist."""

    observations: list[Observation]
    missing_ids: list[int | str] | UnsetType = UNSET


class CardLine(ResultRow):
    """One fact of the resume card: the item to fetch, the reason, the text, the time."""

    id: int
    why: str
    text: str
    at: str | UnsetType = UNSET


def observation(item: Item, name: ProjectName) -> Observation:
    """Return an item as a row; the text of a note is in `text`, of any other in `narrative`."""
    is_note = item.kind == "note"
    return Observation(
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


def why(hit: Hit) -> HitReasons:
    """Return why a hit was found; figures to four digits."""
    signals = hit.signals
    return HitReasons(
        id=hit.item.id,
        score=round(hit.score, 4),
        semantic=round(signals.semantic, 4),
        fts5=round(signals.fts5, 4),
        close=round(signals.close, 4),
        phrase=round(signals.phrase, 4),
        exact=round(signals.exact, 4),
        recency=round(signals.recency, 4),
        terms=list(signals.terms),
        words_rank=signals.words_rank or UNSET,
        meaning_rank=signals.meaning_rank or UNSET,
        same=list(hit.alike) or UNSET,
        lasting=_factor(hit.lasting),
        type_weight=_factor(signals.type_weight),
    )


def _factor(figure: float) -> float | UnsetType:
    return UNSET if round(figure, 4) == 1 else round(figure, 4)


def card_line(line: CardFact) -> CardLine:
    """Return a line of a resume card, cut as its text is cut."""
    return CardLine(
        id=line.item,
        why=render.one_line(line.why),
        text=render.one_line(line.text, line.most_chars),
        at=iso(line.at_ms) if line.at_ms else UNSET,
    )


def _joined(parts: Iterable[str], by: str = ", ") -> str | UnsetType:
    return by.join(parts) or UNSET
