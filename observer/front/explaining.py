"""Why a context holds what it holds: each line's reason, price and weight, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from observer.front import moment, render
from observer.front.tool import Row
from observer.memory import Memory
from observer.recall.context import CARD_SHARE, CARD_TOKENS, Entry, Pack
from observer.recall.rank import is_knowledge
from observer.recall.usefulness import UNKNOWN, Usefulness


class Line(Row):
    """A part of a context: `tokens` is what it costs, `weight` what its use makes of its worth."""

    id: int
    text: str
    why: str
    tokens: int
    weight: float
    shown: int
    used: int


class Left(Row):
    """What is not in it, and why."""

    id: int
    title: str
    why: str


class Explanation(Row):
    """A whole context, explained; `card` are the lines of the resume card, `rest` the others."""

    token_budget: int
    tokens_used: int
    card_tokens: int
    card: list[Line]
    rest: list[Line]
    left_out: list[Left]


def explained(packed: Pack, memory: Memory) -> Explanation:
    """Explain a context."""
    card = [(line.item, render.card_line(line), line.why) for line in packed.card]
    rest = list(_rest(packed))
    known = memory.usage.of([item for item, _, _ in (*card, *rest)])
    lines = [_line(*each, known) for each in card]
    return Explanation(
        token_budget=packed.budget_tokens,
        tokens_used=packed.used_tokens,
        card_tokens=sum(line.tokens for line in lines),
        card=lines,
        rest=[_line(*each, known) for each in rest],
        left_out=[
            Left(id=o.item, title=render.one_line(o.title), why=o.why) for o in packed.omitted
        ],
    )


def text(told: Explanation) -> str:
    """Return an explanation as text, every line with its reason below it."""
    most = min(CARD_TOKENS, int(told.token_budget * CARD_SHARE))
    lines = [f"{told.tokens_used:,} of {told.token_budget:,} tokens"]
    lines.append(f"resume card: {told.card_tokens:,} of at most {most:,} tokens")
    for each in (*told.card, *told.rest):
        lines += [each.text, f"    why: {each.why} · {each.tokens} tokens{_use(each)}"]
    if told.left_out:
        lines.append("left out:")
        lines += [f"#{left.id} {left.title}\n    why: {left.why}" for left in told.left_out]
    return "\n".join(lines)


def usefulness(known: Usefulness) -> str:
    """Return what is known of the use of an item, in one line."""
    sorts = [f"{use.sort} {moment.minute(use.at_ms)}" for use in known.uses if use.sort != "shown"]
    told = _weighed(known.weight, known.shown, known.used)
    return f"{told}: {', '.join(sorts[-3:])}" if sorts else told


def _rest(packed: Pack) -> Iterator[tuple[int, str, str]]:
    """Yield id, text and reason of what stands below the card, in its order."""
    known = [entry for entry in packed.entries if is_knowledge(entry.hit.item)]
    others = [entry for entry in packed.entries if not is_knowledge(entry.hit.item)]
    for entry in known:
        yield entry.hit.item.id, render.pack_entry(entry), f"knowledge; {_worth(entry)}"
    for item, _ in packed.summaries:
        yield item.id, render.pack_summary(item), "one of the newest sessions that are over"
    for entry in others:
        yield entry.hit.item.id, render.pack_entry(entry), _worth(entry)


def _worth(entry: Entry) -> str:
    signals = entry.hit.signals
    figures = (
        ("meaning", signals.semantic),
        ("words", signals.fts5),
        ("recency", signals.recency),
        ("this project", signals.project_match),
    )
    told = ", ".join(f"{name} {figure:.2f}" for name, figure in figures if figure)
    return f"worth {entry.hit.score:.2f} by {told}"


def _line(item: int, text: str, why: str, known: Mapping[int, Usefulness]) -> Line:
    use = known.get(item, UNKNOWN)
    return Line(
        id=item,
        text=text,
        why=why,
        tokens=render.tokens(text + "\n"),
        weight=round(use.weight, 3),
        shown=use.shown,
        used=use.used,
    )


def _use(line: Line) -> str:
    if not line.shown + line.used:
        return ""
    return f" · {_weighed(line.weight, line.shown, line.used)}"


def _weighed(weight: float, shown: int, used: int) -> str:
    return f"weight {weight:.2f} (sessions: {shown} shown, {used} used)"
