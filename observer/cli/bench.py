"""`observer doctor speed`: the performance of observer, measured on this machine."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from observer.cli.output import emit, json_option, note, say
from observer.core.value import Value
from observer.evaluation.bench import daily, found, hook, kills
from observer.evaluation.bench.figure import Figure, machine, yardstick_ms
from observer.evaluation.bench.lab import Options

FIGURES = {"hooks": hook.run, "daily": daily.run, "found": found.run, "kills": kills.run}
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
    if unknown := [name for name in names if name not in FIGURES]:
        raise click.UsageError(f"nothing is called {unknown[0]!r}: {', '.join(FIGURES)}")
    # SIGTERM ends the run as orderly as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="observer-bench-") as folder:
        options = Options(
            share=QUICK if quick else SHARE,
            work=Path(folder).resolve(),
            peer=peers and peers.resolve(),
        )
        measured = _measured(names or tuple(FIGURES), options)
        if as_json:
            about = machine()
            emit(BenchReport(machine=about, figures=tuple(each.values() for each in measured)))
        else:
            _show(measured)


def _measured(names: Sequence[str], options: Options) -> Iterator[Figure]:
    for name in names:
        yield from FIGURES[name](options)


def _show(measured: Iterator[Figure]) -> None:
    say(machine())
    for figure in measured:
        say(figure.line())
    note(f"at the end: yardstick {yardstick_ms():.2f} ms (it grows while others use the machine)")
