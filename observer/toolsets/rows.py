"""Full rows: the documented result fields of `get_observations`, and of the other tools on demand.

Names and shapes are a contract with clients: facts are one text with a line each, concepts and
files are one text joined by ``", "``. What is empty is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from observer.core.model import Item, SummaryFields, iso
from observer.search.context import PackEntry
from observer.search.eligible import is_stale
from observer.search.rank import Hit
from observer.search.start import CardFact
from observer.search.timeline import TimelineEntry
from observer.views import render
from observer.views.labels import Written, json_characters, labels, written
from observer.views.render import ProjectName
from observer.views.tool import ResultRow


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


class Summary(ResultRow, kw_only=True):
    """What a session was about."""

    id: int
    session_id: str
    project: str
    request: str | UnsetType = UNSET
    investigated: str | UnsetType = UNSET
    learned: str | UnsetType = UNSET
    completed: str | UnsetType = UNSET
    next_steps: str | UnsetType = UNSET
    notes: str | UnsetType = UNSET
    created_at: str
    created_at_epoch: int
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


class FullSearchResult(ResultRow):
    """Result of `search`; `notice` says how the query was reinterpreted.

    `why` explains all results, best first.
    """

    observations: list[Observation]
    summaries: list[Summary]
    why: list[HitReasons]
    notice: str | UnsetType = UNSET
    degraded: str | UnsetType = UNSET


class Moment(ResultRow, kw_only=True):
    """One entry of a timeline; `position`, `depth` and `under` are those of a `TimelineLine`."""

    id: int
    type: str
    title: str
    subtitle: str | UnsetType = UNSET
    narrative: str | UnsetType = UNSET
    project: str
    created_at: str
    created_at_epoch: int
    position: int
    depth: int | UnsetType = UNSET
    under: int | UnsetType = UNSET
    validity: list[str] | UnsetType = UNSET


class Moments(ResultRow):
    """Result of `timeline`, oldest first, a sub-agent's work behind the delegation to it."""

    timeline: list[Moment]


class ObservationsResult(ResultRow):
    """Result of `get_observations`, in the order of the ids; `missing_ids` do not exist."""

    observations: list[Observation]
    missing_ids: list[int | str] | UnsetType = UNSET


class SignalValues(ResultRow):
    """The signals for which an item is in the pack, each between 0 and 1."""

    semantic: float
    fts5: float
    recency: float
    projectMatch: float  # noqa: N815 - the seed's name


class ContextEntry(ResultRow):
    """An item of a context pack; `content` is what the budget was charged for."""

    id: int
    title: str
    content: str
    type: str
    project: str
    created_at: str
    created_at_epoch: int
    score: float
    signals: SignalValues


class ContextItem(ContextEntry):
    """The same, with what must be said of it since the world moved on."""

    validity: list[str] | UnsetType = UNSET


class CardLine(ResultRow):
    """One fact of the resume card: the item to fetch, the reason, the text, the time."""

    id: int
    why: str
    text: str
    at: str | UnsetType = UNSET


class FullContextResult(ResultRow, kw_only=True):
    """Result of `get_context`; of `left_out` see `search.context.Pack`.

    `card` is the state of the work, the most urgent first; only without a query.
    """

    project: str
    items: list[ContextItem]
    summaries: list[Summary]
    tokenBudget: int  # noqa: N815 - the seed's name
    tokensUsed: int  # noqa: N815 - the seed's name
    card: list[CardLine] | UnsetType = UNSET
    left_out: int | UnsetType = UNSET
    notice: str | UnsetType = UNSET
    degraded: str | UnsetType = UNSET


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


def summary(item: Item, name: ProjectName, session: str) -> Summary:
    """Return a session's summary as a row; `session` is the client's own id of it."""
    answers = item.summary or SummaryFields()
    return Summary(
        id=item.id,
        session_id=session,
        project=name(item.project_id),
        request=answers.request or UNSET,
        investigated=answers.investigated or UNSET,
        learned=answers.learned or UNSET,
        completed=answers.completed or UNSET,
        next_steps=answers.next_steps or UNSET,
        notes=answers.notes or UNSET,
        created_at=iso(item.created_ms),
        created_at_epoch=item.created_ms,
        validity=labels(item) or UNSET,
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


def moment(entry: TimelineEntry, name: ProjectName) -> Moment:
    """Return an item at its position in a timeline."""
    item = entry.item
    return Moment(
        id=item.id,
        type=item.type,
        title=item.title,
        subtitle=item.subtitle or UNSET,
        narrative=item.narrative or UNSET,
        project=name(item.project_id),
        created_at=iso(item.created_ms),
        created_at_epoch=item.created_ms,
        position=entry.position,
        depth=entry.depth or UNSET,
        under=entry.under or UNSET,
        validity=labels(item) or UNSET,
    )


def card_line(line: CardFact) -> CardLine:
    """Return a line of a resume card, cut as its text is cut."""
    return CardLine(
        id=line.item,
        why=render.one_line(line.why),
        text=render.one_line(line.text, line.most_chars),
        at=iso(line.at_ms) if line.at_ms else UNSET,
    )


def context_item(entry: PackEntry, name: ProjectName) -> ContextItem:
    """Return an entry of a pack; figures to four digits."""
    item, signals = entry.hit.item, entry.hit.signals
    return ContextItem(
        id=item.id,
        title=item.title,
        content=entry.content,
        type=item.type,
        project=name(item.project_id),
        created_at=iso(item.created_ms),
        created_at_epoch=item.created_ms,
        score=round(entry.hit.score, 4),
        signals=SignalValues(
            semantic=round(signals.semantic, 4),
            fts5=round(signals.fts5, 4),
            recency=round(signals.recency, 4),
            projectMatch=round(signals.project_match, 4),
        ),
        validity=labels(item) or UNSET,
    )


def context_characters(entry: PackEntry, name: ProjectName) -> int:
    """Return an upper bound of the characters of `context_item` as JSON, a comma included."""
    item = entry.hit.item
    return json_characters(_SHELL, item, item.title, entry.content, name(item.project_id))


_encode = msgspec.json.Encoder().encode
_SHELL = len(
    _encode(
        ContextItem(
            id=0,
            title="",
            content="",
            type="",
            project="",
            created_at=iso(0),
            created_at_epoch=9_999_999_999_999,
            score=0.1234,
            signals=SignalValues(semantic=0.1234, fts5=0.1234, recency=0.1234, projectMatch=0.1234),
        )
    )
)
"""Characters of an item without its texts, every figure at its longest."""


def _joined(parts: Iterable[str], by: str = ", ") -> str | UnsetType:
    return by.join(parts) or UNSET
