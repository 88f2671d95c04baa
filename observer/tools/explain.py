"""Explain a project's context: reason and cost of each line, and what is left out."""

from __future__ import annotations

from observer.core.text import counted
from observer.search.start import CardFact, Start
from observer.tools import render
from observer.tools.tool import ResultRow


class ExplainedLine(ResultRow):
    """A line of a context.

    `tokens` is its cost. An `id` of 0 cannot be fetched.
    """

    id: int
    text: str
    why: str
    tokens: int


class LeftOut(ResultRow):
    """An item that is not in the context, and the reason."""

    id: int
    title: str
    why: str


class Explanation(ResultRow):
    """A session's start, explained."""

    token_budget: int
    tokens_used: int
    lines: list[ExplainedLine]
    left_out: list[LeftOut]


def explained(start: Start) -> Explanation:
    """Explain what a session is given at its start."""
    return Explanation(
        token_budget=start.budget_tokens,
        tokens_used=start.used_tokens,
        lines=[_line(line) for line in start.lines],
        left_out=[
            LeftOut(id=one.item, title=render.one_line(one.title), why=one.why)
            for one in start.omitted
        ],
    )


def text(explanation: Explanation) -> str:
    """Return an explanation as text: each line, which names its reason, and its cost below it."""
    lines = [f"{explanation.tokens_used:,} of {explanation.token_budget:,} tokens"]
    for each in explanation.lines:
        lines += [each.text, f"    {counted(each.tokens, 'token')}"]
    if explanation.left_out:
        lines.append("left out:")
        lines += [
            f"{f'#{one.id} ' if one.id else ''}{one.title}\n    why: {one.why}"
            for one in explanation.left_out
        ]
    return "\n".join(lines)


def _line(line: CardFact) -> ExplainedLine:
    shown = render.card_line(line)
    return ExplainedLine(
        id=line.item,
        text=shown,
        why=line.why,
        tokens=render.tokens(f"{shown}\n"),
    )
