"""`observer doctor speed` and `doctor recall`: how fast observer is here, and how well it finds."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from observer.cli.output import emit, json_option, note, progress, say, table
from observer.core import config
from observer.core.paths import home, working_folder
from observer.core.value import Value
from observer.embed.lazy_model import LazyModel
from observer.embed.registry import find
from observer.evaluation.bench import daily, found, hook, kills
from observer.evaluation.bench.figure import Figure, machine, yardstick_ms
from observer.evaluation.bench.lab import Options
from observer.evaluation.measures import FIGURES, Finding, Interval
from observer.evaluation.review import Missed, Review, conclusions, examples, review

PARTS = {"hooks": hook.run, "daily": daily.run, "found": found.run, "kills": kills.run}
SHARE, QUICK = 0.1, 0.05
"""Shares of the rounds of published figures: two minutes, one minute, on an idle machine."""


class BenchReport(Value):
    """All figures, and the machine they were measured on."""

    machine: str
    figures: tuple[dict[str, object], ...]


@click.command("speed", epilog="Example: observer doctor speed hooks found --quick")
@click.argument("names", nargs=-1, metavar="[hooks|daily|found|kills]...")
@click.option("--quick", is_flag=True, help="Half of the rounds.")
@click.option(
    "--peers",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which other memories are installed, beside PATH.",
)
@json_option
def speed_command(*, names: Sequence[str], quick: bool, peers: Path | None, as_json: bool) -> None:
    """Measure hooks, storing, answers and survival on this machine."""
    if unknown := [name for name in names if name not in PARTS]:
        raise click.UsageError(f"nothing is called {unknown[0]!r}: {', '.join(PARTS)}")
    # SIGTERM ends the run as orderly as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="observer-bench-") as folder:
        options = Options(
            share=QUICK if quick else SHARE,
            work=Path(folder).resolve(),
            peer=peers and peers.resolve(),
        )
        measured = _measured(names or tuple(PARTS), options)
        if as_json:
            about = machine()
            emit(BenchReport(machine=about, figures=tuple(each.values() for each in measured)))
        else:
            _show(measured)


def _measured(names: Sequence[str], options: Options) -> Iterator[Figure]:
    for name in names:
        yield from PARTS[name](options)


def _show(measured: Iterator[Figure]) -> None:
    say(machine())
    for figure in measured:
        say(figure.line())
    note(f"at the end: yardstick {yardstick_ms():.2f} ms (it grows while others use the machine)")


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
        _show_review(found)


def _show_review(found: Review) -> None:
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
        yield (row.system, *(_shown(row.figures[label]) for label in FIGURES), lead)


def _shown(figure: Interval) -> str:
    return f"{100 * figure.mean:.0f} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"


def _example(missed: Missed) -> str:
    place = f"came on place {missed.rank}" if missed.rank else "did not come up"
    first = f'; first came {missed.first_commit[:_HASH]} "{missed.first}"' if missed.first else ""
    return f'  "{missed.query}" ({missed.commit[:_HASH]}) {place}{first}'
