"""What a review means, in sentences for a person. Pure."""

from __future__ import annotations

from observer.evaluation.findings import Against
from observer.evaluation.review import Missed, Review

EXAMPLES = 3
NEAR = 30
"""Places of an answer that are still worth reading to somebody who really wants to know."""

_MORE = (
    "Your own memory also holds the messages, and what was asked, run and printed on the way:"
    " take these figures for the least that it can do."
)
_REPORT = "that is a defect of recall: please report it with what `observer eval --json` prints"


def verdict(found: Review) -> tuple[str, ...]:
    """Return a few sentences: how good recall is here, against what, and what would help."""
    five, ten = (found.finding.rows[0].figures[label] for label in ("R@5", "R@10"))
    opening = (
        f"Recall shows the right commit among its first five answers to {100 * five.mean:.0f} of"
        f" 100 such questions, among its first ten to {100 * ten.mean:.0f}."
    )
    said = [opening, *map(_compared, found.finding.against)]
    if found.silent:
        said.append(
            f"{found.silent} questions share no word with their commit; only meaning finds such"
            f" ones, and it found {found.silent_found}."
        )
    if near := sum(each.rank is not None and each.rank <= NEAR for each in found.missed):
        said.append(
            f"Of the {len(found.missed)} that were missed {near} stand on places 11 to {NEAR}:"
            f" ask for more where it matters (`observer search --limit {NEAR}`)."
        )
    return (*said, _MORE)


def examples(found: Review) -> tuple[Missed, ...]:
    """Return a few that were missed, from early, middle and late."""
    step = max(1, len(found.missed) // EXAMPLES)
    return found.missed[step // 2 :: step][:EXAMPLES]


def _compared(against: Against) -> str:
    points = f"{abs(100 * against.gap.mean):.1f} points of nDCG@10, p = {against.gap.p:.2g}"
    if against.is_better:
        return f"It is better than {against.system} ({points})."
    if against.is_worse:
        return f"It is worse than {against.system} ({points}): {_REPORT}."
    return f"It differs from {against.system} by no more than chance does ({points})."
