"""Review: how well recall does on a repository's own history, and what it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from evaluation import commits
from evaluation.commits import CommitQuery, History
from evaluation.measures import FIGURES, Against, Finding, Interval, finding, redraw
from evaluation.runner import Advance, EvaluatedQuery, ask, figures, temporary_memory
from evaluation.systems import WITHOUT_MEANING, mentions, recall, systems_of
from observer.cli.output import note, say, table
from observer.core.value import Value
from observer.index.embed.lazy_model import LazyModel
from observer.search.candidates import Sources

DEEPEST = 100
"""How far down the right answer to a missed query is looked for."""

Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Shows what is being done, and how often it will be."""


class Missed(Value):
    """A query whose commit did not come up; `rank` is None below the first `DEEPEST`.

    `first` is the subject of the commit that came up first, with its hash; empty if none did.
    """

    query: str
    commit: str
    rank: int | None
    first: str
    first_commit: str


class Review(Value):
    """What became of all queries; `silent` ones share no word with the commit they are about."""

    commits: int
    queries: int
    finding: Finding
    silent: int
    silent_found: int
    missed: tuple[Missed, ...]
    model: str
    remarks: tuple[str, ...]


def review(
    folder: str, model: LazyModel, *, progress: Progress = lambda *_: nullcontext(int)
) -> Review:
    """Ask a memory of nothing but a repository's diffs for its commits, by their subjects.

    Nothing is written but a folder for temporary files, which is removed.

    Args:
        folder: any folder of the repository.
        model: what searches by meaning.
        progress: shows how far it has come.

    Raises:
        NotFound: there is no repository, or no git.
        BadInput: too few of its commits can be asked about.
        ObserverError: git found the repository damaged.
    """
    with progress("reading", commits.size(folder)) as advance:
        history = commits.read(folder, advance=advance)
    with temporary_memory(model) as memory:
        with progress("storing", len(history.events)) as advance:
            ids = memory.ingest(history.events, advance=advance)
        with memory.sources() as sources, progress("asking", len(history.queries)) as advance:
            return _asked(sources, history, ids, model=model, advance=advance)


def _asked(
    sources: Sources,
    history: History,
    ids: Sequence[int],
    *,
    model: LazyModel,
    advance: Advance,
) -> Review:
    systems = systems_of(model)
    asked = [
        EvaluatedQuery(text=query.text, relevant=frozenset({ids[query.at]}))
        for query in history.queries
    ]
    answers = ask(sources, asked, systems, now_ms=_latest_ms(history), advance=advance)
    right = zip(asked, answers["recall"], strict=True)
    lost = [at for at, (one, answer) in enumerate(right) if one.relevant.isdisjoint(answer)]
    silent = {
        at for at, one in enumerate(asked) if one.relevant.isdisjoint(mentions(sources, one.text))
    }
    return Review(
        commits=len(history.events),
        queries=len(asked),
        finding=finding(_shown(history.folder), redraw(figures(answers, asked)), list(systems)),
        silent=len(silent),
        silent_found=len(silent.difference(lost)),
        missed=tuple(_missed(sources, history, ids, query=history.queries[at]) for at in lost),
        model=model.info.name,
        remarks=(*history.remarks, *_without(model)),
    )


def _without(model: LazyModel) -> tuple[str, ...]:
    return (f"searched by words alone: {model.problem}",) if model.problem else ()


def _missed(
    sources: Sources, history: History, ids: Sequence[int], *, query: CommitQuery
) -> Missed:
    found = recall(sources, query.text, _latest_ms(history), limit=DEEPEST)
    right, first = ids[query.at], ids.index(found[0]) if found else None
    return Missed(
        query=query.text,
        commit=history.hash(query.at),
        rank=found.index(right) + 1 if right in found else None,
        first="" if first is None else history.subjects[first],
        first_commit="" if first is None else history.hash(first),
    )


def _shown(folder: str) -> str:
    return folder.encode("utf-8", "replace").decode()


def _latest_ms(history: History) -> int:
    return max(event.at_ms for event in history.events)


EXAMPLES = 3
NEAR = 30
"""Places of an answer that are still worth reading to somebody who really wants to know."""

_MORE = (
    "Your own memory also holds the messages, and what was asked, run and printed on the way:"
    " take these figures for the least that it can do."
)


def conclusions(found: Review) -> tuple[str, ...]:
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
                " please report that, with what `scripts/evaluate.py commits --json` prints."
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
                    " observer config model, scripts/evaluate.py commits --model NAME."
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


_HASH = 10
"""Characters of a hash that are shown."""


def show(found: Review) -> None:
    """Print a review for a person."""
    for remark in found.remarks:
        note(f"note: {remark}")
    say(
        f"{found.queries} of {found.commits} commits of {found.finding.name} were looked for by"
        f" their subjects in a memory that knew nothing but their diffs; model: {found.model}.\n"
        "In percent, with 95 % intervals; `lead` is recall's in nDCG@10.\n"
    )
    table(("system", *FIGURES, "lead"), _system_rows(found.finding))
    say("\n" + "\n".join(conclusions(found)))
    if found.missed:
        say("\nMissed, for example:\n" + "\n".join(map(_example, examples(found))))


def _system_rows(found: Finding) -> Iterator[Sequence[str]]:
    leads = {each.system: each.gap for each in found.against}
    for row in found.rows:
        gap = leads.get(row.system)
        lead = f"{100 * gap.mean:+.1f} p={gap.p:.2g}" if gap else ""
        yield (row.system, *(_percent(row.figures[label]) for label in FIGURES), lead)


def _percent(figure: Interval) -> str:
    return f"{100 * figure.mean:.0f} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"


def _example(missed: Missed) -> str:
    place = f"came on place {missed.rank}" if missed.rank else "did not come up"
    first = f'; first came {missed.first_commit[:_HASH]} "{missed.first}"' if missed.first else ""
    return f'  "{missed.query}" ({missed.commit[:_HASH]}) {place}{first}'
