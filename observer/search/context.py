"""A pack of the most useful items of a project that fits into a budget of tokens.

The budget is hard: what the front will render is what is charged. The resume card comes first
where one is asked for. With a query, what fits it follows (see `recall.answer`). Without one, and
where nothing fits, it is knowledge, then the newest finished sessions, then everything else by its
worth; what does not fit makes room for something smaller, and is named.
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.core.errors import BadInput
from observer.search.answer import KNOWLEDGE_SHARE, answer
from observer.search.candidates import Sources
from observer.search.dedupe import distinct
from observer.search.fitting import fitting
from observer.search.overview import newest, newest_summaries, ranked
from observer.search.rank import leads
from observer.search.recent_sessions import Uncommitted
from observer.search.resume_card import CardRequest, Line, card
from observer.search.token_budget import (
    KNOWLEDGE_LENGTHS,
    OTHER_LENGTHS,
    Costs,
    Entry,
    Finished,
    Pack,
    PackRequest,
    Purse,
)
from observer.store.interface import Reader

__all__ = ["Costs", "Entry", "Finished", "Pack", "PackRequest", "pack"]

CARD_TOKENS = 600
CARD_SHARE = 0.5
"""Most of a budget that a card may take: what helps beyond the last session needs room too."""

SUMMARY_SHARE = 0.5
"""Of what knowledge left over, so that summaries cannot crowd out what happened last."""

NOTHING_FITS = "nothing recorded here fits the query; this is what is newest"


def pack(
    sources: Sources,
    request: PackRequest,
    costs: Costs,
    *,
    uncommitted: Uncommitted | None = None,
) -> Pack:
    """Choose what fits.

    Args:
        sources: where to look.
        request: what to pack.
        costs: what rendering costs.
        uncommitted: asks git about files that sessions left dirty; None believes the sessions.

    Raises:
        BadInput: the budget cannot hold even an empty answer.
    """
    if request.budget_tokens < costs.overhead:
        raise BadInput(
            f"a budget of {request.budget_tokens} tokens cannot hold even an empty answer",
            hint=f"ask for {costs.overhead} or more",
        )
    purse = Purse(request.budget_tokens - costs.overhead, costs)
    lines = tuple(_card(sources.reader, request, purse, uncommitted))
    packed = _answer(sources, request, purse) if request.query else None
    return replace(
        packed or _overview(sources.reader, request, purse),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - purse.left,
        card=lines,
        omitted=tuple(purse.omitted),
    )


def _answer(sources: Sources, request: PackRequest, purse: Purse) -> Pack:
    """Pack what fits the query; where nothing does, what is worth showing without one."""
    fits = fitting(sources, request)
    if fits.hits:
        packed = answer(sources.reader, request, fits, purse)
    else:
        packed = _overview(sources.reader, request, purse)
    notices = (fits.wanted.notice, "" if fits.hits else NOTHING_FITS)
    return replace(packed, notice="; ".join(filter(None, notices)), degraded=fits.degraded)


def _overview(reader: Reader, request: PackRequest, purse: Purse) -> Pack:
    """Pack what is worth showing where nothing is asked, or nothing fits what is."""
    hits = distinct(ranked(reader, request, list(dict.fromkeys(newest(reader, request)))))
    knowledge = [hit for hit in hits if leads(hit.item)]
    others = [hit for hit in hits if not leads(hit.item)]
    most = int(request.budget_tokens * KNOWLEDGE_SHARE) if request.query else None
    entries = purse.entries(knowledge, KNOWLEDGE_LENGTHS, at_most=most)
    summaries = purse.summaries(newest_summaries(reader, request), share=SUMMARY_SHARE)
    rest = purse.entries(others, OTHER_LENGTHS)
    return Pack(
        entries=(*entries, *rest),
        summaries=tuple(summaries),
        leading=len(entries),
        left_out=purse.left_out,
    )


def _card(
    reader: Reader, request: PackRequest, purse: Purse, uncommitted: Uncommitted | None
) -> list[Line]:
    most = min(request.card_tokens, int(purse.left * CARD_SHARE))
    if not most:
        return []
    asked = CardRequest(
        project_id=request.project_id,
        now_ms=request.now_ms,
        owner=request.owner,
        with_standing=False,  # the pack's entries say what holds
    )
    return purse.lines(card(reader, asked, uncommitted=uncommitted), at_most=most)
