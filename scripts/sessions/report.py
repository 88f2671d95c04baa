"""The scorers in their order, and how their figures are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from sessions import (
    imported,
    labelled,
    occasions,
    outcomes,
    prompts,
    questions,
    red,
    redactions,
    reminders,
    starts,
    stored,
    succession,
    symbols,
    whys,
    wording,
)
from sessions.kept import Kept
from sessions.measures import Measure, Scored

SCORERS: Mapping[str, Callable[[Kept], Scored]] = {
    "events": stored.scored,
    "import": imported.scored,
    "outcomes": outcomes.scored,
    "red": red.scored,
    "symbols": symbols.scored,
    "why": whys.scored,
    "starts": starts.scored,
    "prompts": prompts.scored,
    "questions": questions.scored,
    "occasions": occasions.scored,
    "reminders": reminders.scored,
    "redactions": redactions.scored,
    "succession": succession.scored,
    "items": wording.scored,
    "labelled-outcomes": labelled.outcomes,
    "labelled-fixes": labelled.fixes,
    "labelled-items": labelled.items,
    "labelled-summaries": labelled.summaries,
}
"""By the name that `--list` takes."""


def score(kept: Kept, names: Sequence[str] = tuple(SCORERS)) -> dict[str, Scored]:
    """Return what each of these scorers finds in a replay."""
    return {name: SCORERS[name](kept) for name in names}


def table(found: Mapping[str, Scored]) -> str:
    """Return all figures, a line each: shares in percent with the count they are shares of."""
    measures = [measure for each in found.values() for measure in each.measures]
    width = max((len(measure.name) for measure in measures), default=0)
    return "\n".join(
        f"{measure.group:19}{measure.name:{width + 2}}{_value(measure)}" for measure in measures
    )


def as_json(found: Mapping[str, Scored]) -> bytes:
    """Return all figures as JSON."""
    measures = [measure for each in found.values() for measure in each.measures]
    return msgspec.json.format(msgspec.json.encode(measures))


def _value(measure: Measure) -> str:
    if measure.n is None:
        digits = 0 if measure.value == int(measure.value) else 2
        return f"{measure.value:10,.{digits}f}"
    shown = f"{100 * measure.value:9.1f}%" if measure.n else f"{'-':>10}"
    return f"{shown}  of {measure.n:,}"
