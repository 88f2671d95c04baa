"""Explain a project's context: reason, cost and usage weight of each line, and what is left out."""

from __future__ import annotations

from observer.memory.api import Memory
from observer.search.start import Start
from observer.search.token_budget import CardFact
from observer.search.usage import UNKNOWN, Usefulness
from observer.views import moment, render
from observer.views.tool import ResultRow


class ExplainedLine(ResultRow):
    """A line of a context.

    `tokens` is its cost, `weight` the factor that past use gives its score; `shown` and `used`
    count sessions. An `id` of 0 cannot be fetched.
    """

    id: int
    text: str
    why: str
    tokens: int
    weight: float
    shown: int
    used: int


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


def explained(start: Start, memory: Memory) -> Explanation:
    """Explain what a session is given at its start."""
    known = memory.usage.of([line.item for line in start.lines if line.item])
    return Explanation(
        token_budget=start.budget_tokens,
        tokens_used=start.used_tokens,
        lines=[_line(line, known.get(line.item, UNKNOWN)) for line in start.lines],
        left_out=[
            LeftOut(id=one.item, title=render.one_line(one.title), why=one.why)
            for one in start.omitted
        ],
    )


def text(explanation: Explanation) -> str:
    """Return an explanation as text, every line with its reason below it."""
    lines = [f"{explanation.tokens_used:,} of {explanation.token_budget:,} tokens"]
    for each in explanation.lines:
        lines += [each.text, f"    why: {each.why} · {each.tokens} tokens{_use(each)}"]
    if explanation.left_out:
        lines.append("left out:")
        lines += [
            f"{f'#{one.id} ' if one.id else ''}{one.title}\n    why: {one.why}"
            for one in explanation.left_out
        ]
    return "\n".join(lines)


def usefulness(known: Usefulness) -> str:
    """Return the known uses of an item in one line: its weight, then the last three."""
    sorts = [f"{use.sort} {moment.minute(use.at_ms)}" for use in known.uses if use.sort != "shown"]
    text = _weighed(known.weight, known.shown, known.used)
    return f"{text}: {', '.join(sorts[-3:])}" if sorts else text


def _line(line: CardFact, use: Usefulness) -> ExplainedLine:
    shown = render.card_line(line)
    return ExplainedLine(
        id=line.item,
        text=shown,
        why=line.why,
        tokens=render.tokens(f"{shown}\n"),
        weight=round(use.weight, 3),
        shown=use.shown,
        used=use.used,
    )


def _use(line: ExplainedLine) -> str:
    if not line.shown + line.used:
        return ""
    return f" · {_weighed(line.weight, line.shown, line.used)}"


def _weighed(weight: float, shown: int, used: int) -> str:
    return f"weight {weight:.2f} (sessions: {shown} shown, {used} used)"
