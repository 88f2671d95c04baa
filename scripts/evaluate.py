"""Measure how well recall finds what a query is about, on sets of documents and queries.

Runs every set of a folder through the real store and the real recall:

    python scripts/evaluate.py FOLDER [--model NAME]

A folder holds `<repo>_<set>_docs.jsonl` (`id`, `title`, `narrative`, `facts`, `concepts`, `files`)
and `<repo>_<set>_q.jsonl` (`q`, and `rel`, the ids of the relevant documents). A set of queries
without documents of its own (`sym`) asks the `diff` documents of its repository.

Prints, for each set and for their macro average, Recall@5, Recall@10, MRR@10 and nDCG@10 in
percent with 95 % bootstrap intervals, for the product's recall and for what it is held against,
and by how much recall is ahead in nDCG@10 (paired bootstrap, two-sided p).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from observer.config import Settings
from observer.embed.catalogue import find
from observer.embed.late import LateModel
from observer.errors import ObserverError
from observer.evaluation import sets
from observer.evaluation.asking import Asked, ask, figures, trial
from observer.evaluation.findings import Finding, finding
from observer.evaluation.measures import FIGURES, Interval, Numbers, Sample, average, redraw
from observer.evaluation.sets import QuestionSet
from observer.evaluation.systems import SINGLE_LEGS, systems_of
from observer.model import item_id
from observer.paths import home


def evaluate(alike: Sequence[QuestionSet], model: LateModel) -> Iterator[tuple[str, Numbers]]:
    """Yield the name of each set and the figures of its queries; all ask the same documents."""
    documents = list(enumerate(alike[0].documents, start=1))
    places = {document.id: item_id(number) for number, document in documents}
    with trial(model) as memory:
        memory.keep(sets.item(document, number) for number, document in documents)
        with memory.sources() as sources:
            for each in alike:
                asked = [
                    Asked(text=one.q, relevant=frozenset(places[name] for name in one.rel))
                    for one in each.questions
                ]
                answers = ask(sources, asked, systems_of(model), now_ms=sets.NOW_MS)
                yield each.name, figures(answers, asked)


def show(found: Finding, note: str) -> None:
    """Print one set, or the average."""
    print(f"\n{found.name} ({note})", flush=True)
    for row in found.rows:
        print(f"  {row.system:15}" + "".join(map(_shown, row.figures.values())))
    for other in found.against:
        gap = other.gap
        print(
            f"  recall - {other.system:15}{100 * gap.mean:+6.1f} nDCG@10"
            f" [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}], p = {gap.p:.4f}"
        )


def _shown(figure: Interval) -> str:
    low, high = f"{100 * figure.low:.1f}", f"{100 * figure.high:.1f}"
    return f"{100 * figure.mean:7.1f} {f'[{low}, {high}]':14}"


def verdict(found: list[Finding]) -> None:
    """Print on which sets recall is behind the best single leg beyond chance."""
    worse = [each.name for each in found if (best := each.best(SINGLE_LEGS)) and best.is_worse]
    print(f"\nworse than the best single leg beyond chance on: {', '.join(worse) or 'no set'}")


def main() -> int:
    """Evaluate the folder named on the command line; returns the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path, help="where the sets lie")
    arguments.add_argument("--model", default=Settings().model, help="see: observer model list")
    chosen = arguments.parse_args()
    print(f"{'set, system':17}" + "".join(f"{label:>7}{'':15}" for label in FIGURES))
    found: list[Finding] = []
    samples: list[Sample] = []
    try:
        model = LateModel(find(chosen.model, home().models))
        read = [sets.read(questions) for questions in sets.find(chosen.folder)]
        for source in dict.fromkeys(each.source for each in read):
            alike = [each for each in read if each.source == source]
            for name, measured in evaluate(alike, model):
                samples.append(redraw(measured, seed=len(samples)))
                found.append(finding(name, samples[-1], list(systems_of(model))))
                show(found[-1], f"{len(measured)} queries")
    except ObserverError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    show(
        finding("macro average", average(samples), list(systems_of(model))), f"{len(samples)} sets"
    )
    verdict(found)
    if model.problem:
        print(f"note: there were no vectors: {model.problem}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
