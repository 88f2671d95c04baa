"""What a review means, in sentences for a person. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from observer.evaluation.findings import Against
from observer.evaluation.review import Missed, Review
from observer.evaluation.systems import WITHOUT_MEANING

EXAMPLES = 3
NEAR = 30
"""Places of an answer that are still worth reading to somebody who really wants to know."""

_MORE = (
    "Your own memory also holds the messages, and what was asked, run and printed on the way:"
    " take these figures for the least that it can do."
)


def verdict(found: Review) -> tuple[str, ...]:
    """Return a few sentences: how good recall is here, what meaning adds, and what would help."""
    five, ten = (found.finding.rows[0].figures[label] for label in ("R@5", "R@10"))
    opening = (
        f"Recall shows the right commit among its first five answers to {100 * five.mean:.0f} of"
        f" 100 such questions, among its first ten to {100 * ten.mean:.0f}."
    )
    return (opening, *_behind(found), *_meaning(found), *_near(found), _MORE)


def _behind(found: Review) -> Iterator[str]:
    """Say where something simpler did better: that is no matter of taste."""
    for each in found.finding.against:
        if each.is_worse and each.system != WITHOUT_MEANING:
            yield (
                f"It does worse than {each.system} here ({_points(each)}), which it never should:"
                " please report that, with what `observer eval --json` prints."
            )


def _meaning(found: Review) -> Iterator[str]:
    """Say what the model is good for here."""
    for each in found.finding.against:
        if each.system == WITHOUT_MEANING:
            if each.is_better:
                yield f"Searching by meaning helps here ({_points(each)})."
            else:
                verb = "hurts here" if each.is_worse else "makes no difference here that is sure"
                yield (
                    f"Searching by meaning {verb} ({_points(each)}); try another model:"
                    " observer model list, observer eval --model NAME."
                )
    if found.silent:
        yield (
            f"{found.silent} questions share no word with their commit, so only meaning could find"
            f" them; it found {found.silent_found}."
        )


def _near(found: Review) -> Iterator[str]:
    """Say how many of those that were missed stand a little further down."""
    if near := sum(each.rank is not None and each.rank <= NEAR for each in found.missed):
        yield (
            f"Of the {len(found.missed)} that were missed {near} stand on places 11 to {NEAR}:"
            f" ask for more where it matters, as with: observer search --limit {NEAR}."
        )


def _points(against: Against) -> str:
    return f"{100 * against.gap.mean:+.1f} points of nDCG@10, p = {against.gap.p:.2g}"


def examples(found: Review) -> tuple[Missed, ...]:
    """Return a few that were missed, from early, middle and late."""
    step = max(1, len(found.missed) // EXAMPLES)
    return found.missed[step // 2 :: step][:EXAMPLES]
