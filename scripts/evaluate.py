"""Measure how well recall finds what a query is about, on sets of documents and queries.

Runs every set of a folder through the real store and the real search:

    python scripts/evaluate.py FOLDER [--sample 2000]

A folder holds `<repo>_<set>_docs.jsonl` (`id`, `title`, `narrative`, `facts`, `concepts`, `files`)
and `<repo>_<set>_q.jsonl` (`q`, and `rel`, the ids of the relevant documents). A set of queries
without documents of its own (`sym`) runs on the `diff` documents of its repository.

Prints Recall@5, Recall@10, MRR@10 and nDCG@10 per set for recall, for plain BM25 over any of the
words and for BM25 over all of them, and how often a paired bootstrap puts recall ahead of the
better of the two.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from observer.model import Item, item_id, item_uuid
from observer.recall.query import any_of, parts
from observer.recall.search import search
from observer.store.interface import Filters, Reader
from observer.store.sqlite import SqliteStore

DEPTH = 10
DAY_MS = 86_400_000
NOW_MS = 1_800_000_000_000


class Document(msgspec.Struct):
    """An observation of one commit."""

    id: str
    title: str
    narrative: str = ""
    facts: list[str] = []
    concepts: list[str] = []
    files: list[str] = []


class Question(msgspec.Struct):
    """A query and the documents it is about."""

    q: str
    rel: list[str]


class Measures(msgspec.Struct):
    """Figures of one query, or their means, 0 to 1."""

    recall5: float
    recall10: float
    mrr: float
    ndcg: float


System = Callable[[Reader, str], list[int]]
"""Answers a query with item ids, best first."""


def ours(reader: Reader, text: str) -> list[int]:
    """Answer as the product does."""
    found = search(reader, text, Filters(), limit=DEPTH, now_ms=NOW_MS)
    return [hit.item.id for hit in found.hits]


def any_word(reader: Reader, text: str) -> list[int]:
    """Answer with BM25 over all words joined by OR."""
    return _plain(reader, any_of(parts(text)))


def all_words(reader: Reader, text: str) -> list[int]:
    """Answer with BM25 over items that hold every word."""
    return _plain(reader, any_of(parts(text)).replace(" OR ", " AND "))


def _plain(reader: Reader, expression: str) -> list[int]:
    if not expression:
        return []
    return [match.id for match in reader.match(expression, Filters(), limit=DEPTH)]


SYSTEMS: dict[str, System] = {"recall": ours, "any word": any_word, "all words": all_words}


def measure(answer: Sequence[int], relevant: set[int]) -> Measures:
    """Compare one answer with what it should have been."""
    gains = [1.0 if item in relevant else 0.0 for item in answer[:DEPTH]]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
    return Measures(
        recall5=sum(gains[:5]) / len(relevant),
        recall10=sum(gains) / len(relevant),
        mrr=next((1 / (rank + 1) for rank, gain in enumerate(gains) if gain), 0.0),
        ndcg=sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains)) / ideal,
    )


def mean(measures: Sequence[Measures]) -> Measures:
    """Return the means of each figure."""
    columns = zip(*(msgspec.structs.astuple(each) for each in measures), strict=True)
    return Measures(*(sum(column) / len(measures) for column in columns))


def wins(ours_: Sequence[float], theirs: Sequence[float], *, samples: int) -> float:
    """Return the share of paired resamplings in which the first mean is the larger one."""
    chance = random.Random(7)  # noqa: S311 - a resampling that gives the same figures each time
    gaps = [a - b for a, b in zip(ours_, theirs, strict=True)]
    ahead = sum(sum(chance.choices(gaps, k=len(gaps))) > 0 for _ in range(samples))
    return ahead / samples


def to_item(document: Document, number: int) -> Item:
    """Return a document as the observation that a commit would have become."""
    at_ms = NOW_MS - number * DAY_MS // 10
    return Item(
        id=item_id(number),
        uuid=item_uuid(document.id, at_ms),
        kind="observation",
        type="commit",
        title=document.title,
        narrative=document.narrative,
        facts=tuple(document.facts),
        concepts=tuple(document.concepts),
        files_modified=tuple(document.files),
        project_id=1,
        created_ms=at_ms,
        updated_ms=at_ms,
    )


def load(documents: Path, store: SqliteStore) -> dict[str, int]:
    """Store all documents of a file; returns the item id of each."""
    lines = documents.read_bytes().splitlines()
    read = [msgspec.json.decode(line, type=Document) for line in lines]
    with store.write() as writer:
        writer.put_items(to_item(each, number) for number, each in enumerate(read, start=1))
    return {each.id: item_id(number) for number, each in enumerate(read, start=1)}


def documents_of(questions: Path) -> Path:
    """Return the documents that a file of queries is about."""
    name = questions.name.removesuffix("_q.jsonl")
    own = questions.with_name(f"{name}_docs.jsonl")
    return own if own.exists() else questions.with_name(f"{name.rsplit('_', 1)[0]}_diff_docs.jsonl")


def evaluate(questions: Path, folder: Path) -> dict[str, list[Measures]]:
    """Run one set through every system."""
    store = SqliteStore(folder / f"{questions.stem}.db")
    ids = load(documents_of(questions), store)
    lines = questions.read_bytes().splitlines()
    asked = [msgspec.json.decode(line, type=Question) for line in lines]
    with store.read() as reader:
        figures = {
            name: [measure(answer(reader, one.q), {ids[r] for r in one.rel}) for one in asked]
            for name, answer in SYSTEMS.items()
        }
    store.close()
    return figures


def report(name: str, figures: dict[str, list[Measures]], *, samples: int) -> None:
    """Print one set."""
    ndcg = {system: [each.ndcg for each in found] for system, found in figures.items()}
    best = max((s for s in SYSTEMS if s != "recall"), key=lambda s: sum(ndcg[s]))
    ahead = wins(ndcg["recall"], ndcg[best], samples=samples)
    for system, found in figures.items():
        means = "".join(f"{100 * value:9.1f}" for value in msgspec.structs.astuple(mean(found)))
        note = f"   ahead of {best!r} in {ahead:.1%}" if system == "recall" else ""
        print(f"{name:16}{system:>10}{means}{note}")


def main() -> None:
    """Evaluate the folder named on the command line."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path, help="where the sets lie")
    arguments.add_argument("--samples", type=int, default=1000, help="bootstrap samples")
    chosen = arguments.parse_args()
    print(f"{'set':16}{'system':>10}{'R@5':>9}{'R@10':>9}{'MRR@10':>9}{'nDCG@10':>9}")
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        for questions in sorted(chosen.folder.glob("*_q.jsonl")):
            figures = evaluate(questions, Path(folder))
            report(questions.name.removesuffix("_q.jsonl"), figures, samples=chosen.samples)
            scores.append(mean(figures["recall"]).ndcg)
    if scores:
        print(f"macro average of recall's nDCG@10: {100 * sum(scores) / len(scores):.1f}")


if __name__ == "__main__":
    main()
