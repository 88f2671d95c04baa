"""`observer eval`: how well this memory recalls, measured on a repository of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from observer.cli.output import emit, json_option, note, say, table
from observer.cli.progress import progress
from observer.evaluation.measures import FIGURES, Interval
from observer.evaluation.review import Missed, Review, review
from observer.evaluation.verdict import examples, verdict

_HASH = 10
"""Characters of a hash that are shown."""


@click.command("eval", epilog="Example: observer eval ~/src/app")
@click.argument("repository", default=".", type=click.Path(exists=True, file_okay=False))
@json_option
def eval_command(*, repository: str, as_json: bool) -> None:
    """Measure how well recall finds commits by their subjects, in a memory that is thrown away."""
    found = review(str(Path(repository).resolve()), progress=progress)
    if as_json:
        emit(found)
    else:
        _show(found)


def _show(found: Review) -> None:
    for remark in found.remarks:
        note(f"note: {remark}")
    say(
        f"{found.queries} of {found.commits} commits of {found.finding.name} were looked for by"
        " their subjects in a memory that knew nothing but their diffs.\n"
    )
    rows = [
        (row.system, *(_shown(row.figures[label]) for label in FIGURES))
        for row in found.finding.rows
    ]
    table(("system", *FIGURES), rows)
    say("\n" + "\n".join(verdict(found)))
    if found.missed:
        say("\nMissed, for example:\n" + "\n".join(map(_example, examples(found))))


def _shown(figure: Interval) -> str:
    return f"{100 * figure.mean:.0f} % ({100 * figure.low:.0f} to {100 * figure.high:.0f})"


def _example(missed: Missed) -> str:
    place = f"came on place {missed.rank}" if missed.rank else "did not come up"
    first = f'; first came {missed.first_commit[:_HASH]} "{missed.first}"' if missed.first else ""
    return f'  "{missed.query}" ({missed.commit[:_HASH]}) {place}{first}'
