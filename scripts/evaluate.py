"""Measure the quality of search, and of what is derived from events.

    python scripts/evaluate.py recall [FOLDER] [--model NAME] [--server]
    python scripts/evaluate.py commits [REPOSITORY] [--model NAME] [--json]
    python scripts/evaluate.py labelled [--misses]
    python scripts/evaluate.py sessions FOLDER [--keep DIR | --kept DIR] [--list SCORER]
                                       [--questions FILE] [--json]
    python scripts/evaluate.py secrets [FOLDER ...] [--list DIR] [--peers]

`commits` looks for the commits of a repository by their subjects, in a memory that knows nothing
but their diffs, says what was missed, and leaves the user's own memory alone.

`sessions` replays real transcripts with git beside them and scores what memory says of them; see
`scripts/sessions`.

`secrets` plants synthetic secrets in every route of a home, looks for them in its bytes, and counts
what is redacted in text that holds none, and in the transcripts of folders. Half of the families of
secrets only scores: who makes rules reads neither `scripts/leaks/held.kinds` nor `--list-held`.

`labelled` derives claims from the labelled sets of `tests/data` (changes of
symbols, outcomes, fixes) and prints precision and recall; `--misses` names each difference.

`recall` runs every set of a folder, or those of `scripts/recall_sets`, through the real store and
the real recall. It fails where recall is behind one of its legs, or behind words and the deep model
joined by reciprocal ranks, beyond chance.

A folder holds `<repo>_<set>_docs.jsonl` (`id`, `title`, `narrative`, `facts`, `concepts`, `files`)
and `<repo>_<set>_q.jsonl` (`q`, and `rel`, the ids of the relevant documents). A set of queries
without documents of its own (`sym`) asks the `diff` documents of its repository.

With `--server` recall is held against the same items asked of a share on PostgreSQL, by a home that
has none of them.

Prints, for each set and for their macro average, Recall@3, Recall@5, Recall@10, MRR@10 and nDCG@10
in percent with 95 % bootstrap intervals, for the product's recall and for what it is held against,
and by how much recall is ahead in nDCG@10 (paired bootstrap, two-sided p).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from evaluation import sets
from evaluation.measures import (
    FIGURES,
    Finding,
    Interval,
    Numbers,
    Sample,
    average,
    finding,
    redraw,
)
from evaluation.review import review
from evaluation.review import show as show_review
from evaluation.runner import EvaluatedQuery, ask, figures, temporary_memory
from evaluation.server import THROUGH_THE_SERVER, through_a_server
from evaluation.sets import QuestionSet
from evaluation.systems import SINGLE_LEGS, System, legs_of, systems_of
from labelled import SETS
from labelled.score import score
from leaks import command as secrets
from recall_sets import written
from sessions import command as sessions

from observer.cli.output import emit, progress
from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.model import item_id
from observer.core.paths import home
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find

LABELLED = Path(__file__).parents[1] / "tests/data"


def evaluate(
    alike: Sequence[QuestionSet], model: LazyModel, systems: Mapping[str, System]
) -> Iterator[tuple[str, Numbers]]:
    """Yield the name of each set and the figures of its queries; all ask the same documents."""
    documents = list(enumerate(alike[0].documents, start=1))
    places = {document.id: item_id(number) for number, document in documents}
    with temporary_memory(model) as memory:
        memory.keep(sets.item(document, number) for number, document in documents)
        with memory.sources() as sources:
            for each in alike:
                asked = [
                    EvaluatedQuery(text=one.q, relevant=frozenset(places[name] for name in one.rel))
                    for one in each.questions
                ]
                answers = ask(sources, asked, systems, now_ms=sets.NOW_MS)
                yield each.name, figures(answers, asked)


def _systems(model: LazyModel) -> dict[str, System]:
    return systems_of(model) | legs_of(model)


def show(found: Finding, note: str) -> None:
    """Print one set, or the average."""
    print(f"\n{found.name} ({note})", flush=True)
    for row in found.rows:
        print(f"  {row.system:16}" + "".join(map(_shown, row.figures.values())))
    for other in found.against:
        gap = other.gap
        print(
            f"  recall - {other.system:16}{100 * gap.mean:+6.1f} nDCG@10"
            f" [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}], p = {gap.p:.4f}"
        )


def _shown(figure: Interval) -> str:
    low, high = f"{100 * figure.low:.1f}", f"{100 * figure.high:.1f}"
    return f"{100 * figure.mean:7.1f} {f'[{low}, {high}]':14}"


def conclude(found: list[Finding], model: LazyModel) -> int:
    """Print on which sets search is behind its own legs beyond chance; return the exit code."""
    parts = [part.name for part in model.info.parts]
    # Words joined with the last part: the slow one, which reads prose best.
    joined = [f"words + {name}" for name in parts[-1:]] or ["plain RRF"]
    legs = {*SINGLE_LEGS, *(f"{name} alone" for name in parts), *joined}
    behind = [f"{each.name} ({system})" for each in found for system in each.behind(legs)]
    print(f"\nbehind its own legs beyond chance on: {', '.join(behind) or 'no set'}")
    return int(bool(behind))


def labelled(chosen: argparse.Namespace) -> int:
    """Print precision and recall of the labelled sets; return the exit code."""
    print(f"{'set':12}{'cases':>7}{'precision':>11}{'recall':>8}")
    for name, cases in SETS.items():
        asked = list(cases(LABELLED / name))
        found = score(name, asked)
        print(f"{name:12}{found.cases:7}{found.precision:11.3f}{found.recall:8.3f}")
        for case in asked if chosen.misses else ():
            for what, claims in (("wrong", case.wrong), ("missed", case.missed)):
                print("".join(f"  {case.name}: {what} {claim}\n" for claim in claims), end="")
    return 0


def main() -> int:
    """Run the evaluation that the command line names; return the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = arguments.add_subparsers(required=True)
    asking = parts.add_parser("recall", help="sets of documents and queries")
    asking.add_argument("folder", type=Path, nargs="?", help="the folder of the sets")
    asking.add_argument("--model", default=Settings().model, help="see: observer config model")
    asking.add_argument("--server", action="store_true", help="hold a PostgreSQL share against it")
    asking.set_defaults(evaluate=recall)
    looking = parts.add_parser("commits", help="the history of a repository")
    looking.add_argument(
        "repository", type=Path, nargs="?", default=Path(), help="any folder of it"
    )
    looking.add_argument("--model", default=Settings().model, help="see: observer config model")
    looking.add_argument("--json", action="store_true", help="print all for programs")
    looking.set_defaults(evaluate=commits)
    labelling = parts.add_parser("labelled", help="the labelled sets of tests/data")
    labelling.add_argument("--misses", action="store_true", help="name wrong and missed claims")
    labelling.set_defaults(evaluate=labelled)
    replaying = parts.add_parser("sessions", help="transcripts of real sessions, replayed")
    sessions.add(replaying)
    replaying.set_defaults(evaluate=sessions.run)
    planting = parts.add_parser("secrets", help="planted secrets, looked for in a home's bytes")
    secrets.add(planting)
    planting.set_defaults(evaluate=secrets.run)
    chosen = arguments.parse_args()
    return int(chosen.evaluate(chosen))


def commits(chosen: argparse.Namespace) -> int:
    """Print how well the commits of a repository are found; return the exit code."""
    try:
        model = LazyModel(find(chosen.model, home().models))
        found = review(str(chosen.repository.resolve()), model, progress=progress)
    except ObserverError as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    (emit if chosen.json else show_review)(found)
    return 0


def recall(chosen: argparse.Namespace) -> int:
    """Print how well search answers the sets of a folder; return the exit code."""
    with ExitStack() as stack:
        return _recall(chosen, stack)


def _recall(chosen: argparse.Namespace, stack: ExitStack) -> int:
    print(f"{'set, system':18}" + "".join(f"{label:>7}{'':15}" for label in FIGURES))
    found: list[Finding] = []
    samples: list[Sample] = []
    try:
        model = LazyModel(find(chosen.model, home().models))
        systems = _systems(model)
        if chosen.server:
            systems = {
                "recall": systems["recall"],
                THROUGH_THE_SERVER: stack.enter_context(through_a_server(model)),
            }
        read = (
            [sets.read(questions) for questions in sets.find(chosen.folder)]
            if chosen.folder
            else written()
        )
        for source in dict.fromkeys(each.source for each in read):
            alike = [each for each in read if each.source == source]
            for name, measured in evaluate(alike, model, systems):
                samples.append(redraw(measured, seed=len(samples)))
                found.append(finding(name, samples[-1], list(systems)))
                show(found[-1], f"{len(measured)} queries")
    except ObserverError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    show(finding("macro average", average(samples), list(systems)), f"{len(samples)} sets")
    if model.problem:
        print(f"note: there were no vectors: {model.problem}", file=sys.stderr)
    return conclude(found, model)


if __name__ == "__main__":
    sys.exit(main())
