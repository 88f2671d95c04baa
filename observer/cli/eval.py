"""`observer doctor recall`: how well search finds the commits of a repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from observer.cli.output import emit, json_option, note, say, table
from observer.cli.terminal import progress
from observer.core import config
from observer.core.paths import home, working_folder
from observer.embed.lazy_model import LazyModel
from observer.embed.registry import find
from observer.evaluation.measures import FIGURES, Finding, Interval
from observer.evaluation.review import Missed, Review, conclusions, examples, review

_HASH = 10
"""Characters of a hash that are shown."""


@click.command("recall", epilog="Example: observer doctor recall ~/src/app")
@click.argument("repository", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--model", help="Name or folder of a model to try instead of the chosen one.")
@json_option
def recall_command(*, repository: str, model: str | None, as_json: bool) -> None:
    """Measure how well search finds the commits of a repository."""
    here = home()
    chosen = LazyModel(find(model or config.load(here).model, here.models))
    found = review(str((working_folder() / repository).resolve()), chosen, progress=progress)
    if as_json:
        emit(found)
    else:
        _show(found)


def _show(found: Review) -> None:
    for remark in found.remarks:
        note(f"note: {remark}")
    say(
        f"{found.queries} of {found.commits} commits of {found.finding.name} were looked for by"
        f" their subjects in a memory that knew nothing but their diffs; model: {found.model}.\n"
        "In percent, with 95 % intervals; `lead` is recall's in nDCG@10.\n"
    )
    table(("system", *FIGURES, "lead"), _rows(found.finding))
    say("\n" + "\n".join(conclusions(found)))
    if found.missed:
        say("\nMissed, for example:\n" + "\n".join(map(_example, examples(found))))


def _rows(found: Finding) -> Iterator[Sequence[str]]:
    leads = {each.system: each.gap for each in found.against}
    for row in found.rows:
        gap = leads.get(row.system)
        lead = f"{100 * gap.mean:+.1f} p={gap.p:.2g}" if gap else ""
        yield (row.system, *(_shown(row.figures[label]) for label in FIGURES), lead)


def _shown(figure: Interval) -> str:
    return f"{100 * figure.mean:.0f} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"


def _example(missed: Missed) -> str:
    place = f"came on place {missed.rank}" if missed.rank else "did not come up"
    first = f'; first came {missed.first_commit[:_HASH]} "{missed.first}"' if missed.first else ""
    return f'  "{missed.query}" ({missed.commit[:_HASH]}) {place}{first}'
