"""Review: how well recall does on a repository's own history, and what it misses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from observer.evaluation import commits
from observer.evaluation.asking import (
    SYSTEMS,
    Advance,
    Asked,
    ask,
    figures,
    recall,
    trial,
)
from observer.evaluation.commits import History, Query
from observer.evaluation.findings import Finding, finding
from observer.evaluation.measures import redraw
from observer.events import Value
from observer.recall.evidence import matched
from observer.recall.query import plan
from observer.store.interface import Reader

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
    remarks: tuple[str, ...]


def review(folder: str, *, progress: Progress = lambda *_: nullcontext(int)) -> Review:
    """Ask a memory of nothing but a repository's diffs for its commits, by their subjects.

    Nothing is written but a folder for temporary files, which is removed.

    Raises:
        NotFound: there is no repository, or no git.
        BadInput: too few of its commits can be asked about.
        ObserverError: git found the repository damaged.
    """
    with progress("reading", commits.size(folder)) as advance:
        told = commits.read(folder, advance=advance)
    with trial() as memory:
        with progress("storing", len(told.events)) as advance:
            ids = memory.tell(told.events, advance=advance)
        with memory.store.read() as reader, progress("asking", len(told.queries)) as advance:
            return _asked(reader, told, ids, advance=advance)


def _asked(reader: Reader, told: History, ids: Sequence[int], *, advance: Advance) -> Review:
    asked = [Asked(text=query.text, relevant=frozenset({ids[query.at]})) for query in told.queries]
    answers = ask(reader, asked, SYSTEMS, now_ms=_latest_ms(told), advance=advance)
    right = zip(asked, answers["recall"], strict=True)
    lost = [at for at, (one, answer) in enumerate(right) if one.relevant.isdisjoint(answer)]
    silent = {at for at, one in enumerate(asked) if _is_silent(reader, one)}
    return Review(
        commits=len(told.events),
        queries=len(asked),
        finding=finding(_shown(told.folder), redraw(figures(answers, asked)), list(SYSTEMS)),
        silent=len(silent),
        silent_found=len(silent.difference(lost)),
        missed=tuple(_missed(reader, told, ids, query=told.queries[at]) for at in lost),
        remarks=told.remarks,
    )


def _is_silent(reader: Reader, asked: Asked) -> bool:
    items = reader.items(list(asked.relevant))
    words = plan(asked.text).words
    return not any(matched(item, words, stem=reader.stem)[0] for item in items)


def _missed(reader: Reader, told: History, ids: Sequence[int], *, query: Query) -> Missed:
    found = recall(reader, query.text, _latest_ms(told), limit=DEEPEST)
    right, first = ids[query.at], ids.index(found[0]) if found else None
    return Missed(
        query=query.text,
        commit=told.hash(query.at),
        rank=found.index(right) + 1 if right in found else None,
        first="" if first is None else told.subjects[first],
        first_commit="" if first is None else told.hash(first),
    )


def _shown(folder: str) -> str:
    return folder.encode("utf-8", "replace").decode()


def _latest_ms(told: History) -> int:
    return max(event.at_ms for event in told.events)
