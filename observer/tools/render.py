"""Render values as text for models, terminals and context files, and errors in one format.

Every item starts with its id, since the next request needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from textwrap import indent

from observer.core.errors import ObserverError
from observer.core.model import ASKED, Item
from observer.core.moment import localised, minute
from observer.core.text import named
from observer.search.context import Pack, PackEntry
from observer.search.rank import Hit, is_merely_near
from observer.search.snippet import held, held_whole, snippet
from observer.search.start import CardFact
from observer.search.timeline import Timeline
from observer.tools.fence import defused
from observer.tools.labels import labels

ProjectName = Callable[[int | None], str]

SNIPPET_CHARACTERS = 200
"""Most characters of an item's text in a list; `get_observations` returns the whole."""

BEST_CHARACTERS = (800, 400, 300)
"""The same of the first hits: of 38 answers that final replies held, 37 stand within 800, and as
many of those in first hits are printed as with 800, 800 and three times 400; with less, fewer."""

WHOLE_WORDS = 0.8
"""Share of a line that has to be left for it to be cut between words."""

NEWEST = "newest work"
"""Mark of a hit that is shown because it is the newest work, whatever fits the query."""

NEAR_IN_MEANING = "near in meaning"
WITH_WORDS = "with words of the query, and the newest work"
"""Headings of the hits that hold no word of the query, and of the others beside them."""

LONGEST_CONTENT = 1_600
"""Most characters of one text in a pack."""

ANSWERS = ("request", "investigated", "learned", "completed", "next_steps")


def error(problem: ObserverError) -> str:
    """Return an error as text: what happened, and on a second line what to do."""
    return f"{problem.message}\nhint: {problem.hint}" if problem.hint else problem.message


@lru_cache(maxsize=256)  # an answer holds the same texts twice, as text and as JSON
def one_line(text: str, limit: int = SNIPPET_CHARACTERS) -> str:
    """Return text as one line of at most `limit` printable characters, its tags made inert.

    A cut is marked by an …, between words unless one would take a fifth of the line with it.
    """
    line = defused(" ".join(text[: 4 * limit].split()))
    if not line.isprintable():
        line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    if len(line) <= limit and len(text) <= 4 * limit:
        return line
    cut = line[: limit - 1]
    words = cut.rpartition(" ")[0]
    return (words if len(words) > WHOLE_WORDS * limit else cut).rstrip() + "…"


def heading(item: Item, name: ProjectName | None = None, *, whole: bool = False) -> str:
    """Return id, type, title, project if it has a name, time and labels, in one line.

    What lies only on a server has its uuid in place of an id. `whole` as of `labels`.
    """
    parts = [
        f"{f'#{item.id}' if item.id else item.uuid} {item.type}",
        one_line(item.title),
        name(item.project_id) if name else "",
        minute(item.created_ms),
        "stale" if item.stale_ms is not None else "",
        *labels(item, whole=whole),
    ]
    return " · ".join(part for part in parts if part)


def excerpt(item: Item, words: Sequence[str] = (), limit: int = SNIPPET_CHARACTERS) -> str:
    """Return what to show of an item beside its title, at most `limit` characters.

    Without words the beginning of its text, else the passage of any of its texts that holds most of
    them. Files and symbols are such a text only for words that they hold whole, and what was asked
    in a turn only where the reply holds no word: a question is in other words than its answer.
    """
    texts, names = _texts(item, words)
    if not words:
        text = next(filter(None, texts), "")
        return one_line(text, limit) or one_line(next(filter(None, names), ""))
    texts += [f"{label}: {text}" for label, text in written(item)]
    fewer = min(limit, SNIPPET_CHARACTERS)
    most, best = -1, ""
    for of_sort, count, length in ((texts, held, limit), (names, held_whole, fewer)):
        for each in filter(None, of_sort):
            if most < len(words):  # none holds more than all of them
                shown = snippet(each, length, words=words)
                if (found := count(shown, words)) > most:
                    most, best = found, shown
    return one_line(best, limit)


def parts(turn: Item) -> tuple[str, str]:
    """Return what was asked in a turn, and what was replied."""
    reply, _, asked = f"\n\n{turn.narrative}".partition(ASKED)
    return asked.strip() or turn.title, reply.strip()


def _texts(item: Item, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what was written about an item, and lists of files and symbols, best first."""
    if item.summary is not None:
        answered = (f"{field}: {text}" for field, text in said(item) if field != "request")
        return [" | ".join(answered)], []
    facts = " | ".join(item.facts)
    if item.type == "turn":
        narrative = f"\n\n{item.narrative}"
        reply = narrative.partition(ASKED)[0]
        asked = narrative.removeprefix(reply)
        is_asked = not reply.strip() or held(asked, words) > held(reply, words) == 0
        return [asked if is_asked else reply], [facts, item.subtitle]
    if item.type != "commit":
        return [item.narrative, item.subtitle, facts], []
    message, _, files = item.narrative.rpartition("\n")
    hash_, *changed = item.facts or ("",)
    is_named = any(word.casefold() in hash_.removeprefix("commit ") for word in words)
    return [message], [files, hash_ if is_named else "", item.subtitle, " | ".join(changed)]


def written(item: Item) -> list[tuple[str, str]]:
    """Return (label, text) of what a language model wrote about an item; labels name the model."""
    wrote = item.enrichment
    if wrote is None:
        return []
    mark = f"by {one_line(wrote.model)}"
    if item.updated_ms > wrote.as_of_ms:
        mark += f", as of {minute(wrote.as_of_ms)}"
    texts = [(name, getattr(wrote, name)) for name in ("narrative", "learned", "next_steps")]
    texts.append(("concepts", ", ".join(wrote.concepts)))
    return [(f"{label} ({mark})", text) for label, text in texts if text]


def answers(item: Item) -> list[tuple[str, str]]:
    """Return (field, text) of a summary in the order of `ANSWERS`, without empty ones."""
    pairs = ((field, getattr(item.summary, field, "")) for field in ANSWERS)
    return [(field, text) for field, text in pairs if text]


def said(item: Item) -> list[tuple[str, str]]:
    """Return `answers` for people: with the times of what is open as they read them."""
    return [(f, localised(text) if f == "next_steps" else text) for f, text in answers(item)]


def entry(
    item: Item, name: ProjectName | None = None, *, mark: str = "", words: Sequence[str] = ()
) -> str:
    """Return an item as two lines: heading and excerpt."""
    return _under(f"{mark}{heading(item, name)}", excerpt(item, words), item)


def _under(line: str, text: str, item: Item) -> str:
    return f"{line}\n    {text}" if text and text != item.title else line


def excerpts(found: Iterable[Hit]) -> list[str]:
    """Return the excerpt of each hit around the words that were found in it, best first."""
    limits = chain(BEST_CHARACTERS, repeat(SNIPPET_CHARACTERS))
    return [excerpt(hit.item, hit.signals.terms, limit) for hit, limit in zip(found, limits)]  # noqa: B905 - without end


def hits(
    found: Sequence[Hit],
    name: ProjectName,
    *,
    remarks: Sequence[str] = (),
    texts: Sequence[str] | None = None,
) -> str:
    """Return found items, best first, behind what must be said about the answer.

    Those that hold no word of the query stand together, in front if the best is one of them.
    """
    texts = excerpts(found) if texts is None else texts
    lines = [f"({remark})" for remark in remarks if remark]
    near = [is_merely_near(hit.signals) for hit in found]
    rows = list(zip(near, found, texts, strict=True))
    has_near, group = any(near), ""
    for _, hit, text in sorted(rows, key=lambda row: row[0] != near[0]):
        said = mark(hit)
        heads = NEAR_IN_MEANING if said == NEAR_IN_MEANING else WITH_WORDS
        if has_near and heads != group:
            group = heads
            lines.append(f"{group}:")
        more = f" · {said}" if said == NEWEST else ""
        lines.append(_under(f"{heading(hit.item, name)}{more}", text, hit.item))
    return "\n".join([*lines, *([] if found else ["nothing found"])])


def mark(hit: Hit) -> str:
    """Return what is said of a hit that need not fit the query, or holds no word of it."""
    if hit.signals.is_newest:
        return NEWEST
    return NEAR_IN_MEANING if is_merely_near(hit.signals) else ""


def explained(found: Iterable[Hit], name: ProjectName) -> str:
    """Return hits with the score and the signals of each."""
    shown = ((entry(hit.item, name, words=hit.signals.terms), _reasons(hit)) for hit in found)
    return "\n".join(f"{text}\n    {reasons}" for text, reasons in shown)


def _reasons(hit: Hit) -> str:
    parts = [f"score {hit.score:.2f}"]
    signals = hit.signals
    for label, figure, rank in (
        ("words", signals.fts5, signals.words_rank),
        ("meaning", signals.semantic, signals.meaning_rank),
        *((name, getattr(signals, name), 0) for name in ("close", "phrase", "exact", "recency")),
    ):
        parts.append(f"{label} {figure:.2f}" + (f" (no. {rank})" if rank else ""))
    factors = (("lasting", hit.lasting), ("type", signals.type_weight))
    parts += (f"{label} {figure:.2f}" for label, figure in factors if round(figure, 2) != 1)
    if signals.terms:
        parts.append("matched " + ", ".join(signals.terms))
    parts += [NEWEST] * signals.is_newest
    if hit.alike:
        parts.append("same as " + ", ".join(f"#{item_id}" for item_id in hit.alike))
    return " · ".join(parts)


def timeline(found: Timeline, name: ProjectName) -> str:
    """Return a timeline, oldest first; what a sub-agent did is indented below its delegation."""
    return "\n".join(
        indent(
            entry(point.item, name, mark=f"{point.position:+d} " if point.position else "±0 "),
            "  " * point.depth,
        )
        for point in found.entries
    )


def detail(item: Item, name: ProjectName | None = None) -> str:
    """Return everything that is known about one item."""
    is_commit = item.type == "commit"  # its subtitle has the hash, its first fact repeats that
    fields = [
        ("", item.subtitle),
        ("", item.narrative if item.summary is None else ""),
        *said(item),
        *(("fact", fact) for fact in item.facts[is_commit:]),
        ("concepts", ", ".join(item.concepts)),
        ("read", ", ".join(map(named, item.files_read))),
        ("modified", ", ".join(map(named, item.files_modified))),
        ("at commit", "" if is_commit else item.commit),
        ("branch", named(item.branch)),
        ("key", item.key),
        ("category", item.category),
        *written(item),
    ]
    texts = [f"{label}: {text}" if label else text for label, text in fields if text]
    # Indented, so that no line of a text looks like the heading of another item.
    indented = (defused(text).replace("\n", "\n    ") for text in texts)
    return "\n".join([heading(item, name, whole=True), *indented])


def pack(packed: Pack) -> str:
    """Return a project's pack: the card, the leading entries, summaries, the other entries."""
    leading, others = packed.entries[: packed.leading], packed.entries[packed.leading :]
    lines = [f"({remark})" for remark in (packed.notice, packed.degraded) if remark]
    lines += map(card_line, packed.card)
    lines += map(pack_entry, leading)
    lines += [pack_summary(each.item) for each in packed.summaries]
    lines += map(pack_entry, others)
    if packed.left_out:
        lines.append(f"({packed.left_out} more did not fit)")
    return "\n".join(lines) or "nothing recorded yet"


def card_line(line: CardFact) -> str:
    """Return a line of a resume card: id, reason, time, text."""
    when = f" {minute(line.at_ms)}" if line.at_ms else ""
    handle = f"#{line.item} " if line.item else ""
    return f"{handle}{one_line(line.why)}{when} · {one_line(line.text, line.most_chars)}"


def pack_entry(entry: PackEntry) -> str:
    """Return an item of a pack with the passage that was chosen."""
    item = entry.hit.item
    return _under(heading(item), one_line(entry.content, LONGEST_CONTENT), item)


def pack_summary(item: Item) -> str:
    """Return a session's summary, one line per field, and what a model wrote about it."""
    fields = (*answers(item), *written(item)[:1])
    lines = [f"    {field}: {one_line(text, LONGEST_CONTENT)}" for field, text in fields]
    return "\n".join([heading(item), *lines])


def tokens(text: str) -> int:
    """Return the tokens of a text, as `tokens_of`."""
    return tokens_of(len(text))


def tokens_of(characters: int) -> int:
    """Return the estimated tokens of so many characters: 4 characters a token, rounded up."""
    return -(-characters // 4)
