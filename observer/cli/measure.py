"""`observer doctor speed`: what observer costs and finds on this machine."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from observer.cli.doctor import speed
from observer.cli.doctor.lab import Figure, Options, machine, yardstick_ms
from observer.cli.output import emit, json_option, note, say
from observer.core.value import Value

PARTS = {
    "hooks": speed.hooks, "found": speed.found, "kills": speed.kills, "sizes": speed.sizes,
}  # fmt: skip
SHARE, QUICK = 0.1, 0.05
"""Shares of the rounds of published figures: two minutes, one minute, on an idle machine."""


class BenchReport(Value):
    """All figures, and the machine they were measured on."""

    machine: str
    figures: tuple[dict[str, object], ...]


@click.command("speed", epilog="Example: observer doctor speed hooks found --quick")
@click.argument("names", nargs=-1, metavar=f"[{'|'.join(PARTS)}]...")
@click.option("--quick", is_flag=True, help="Half of the rounds.")
@json_option
def speed_command(*, names: Sequence[str], quick: bool, as_json: bool) -> None:
    """Measure hooks, search, survival, storing and memory here."""
    if unknown := [name for name in names if name not in PARTS]:
        raise click.UsageError(f"nothing is called {unknown[0]!r}: {', '.join(PARTS)}")
    # SIGTERM ends the run as orderly as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="observer-bench-") as folder:
        options = Options(share=QUICK if quick else SHARE, work=Path(folder).resolve())
        measured = _measured(names or tuple(PARTS), options)
        if as_json:
            about = machine()
            emit(BenchReport(machine=about, figures=tuple(each.values() for each in measured)))
        else:
            say(machine())
            for figure in measured:
                say(figure.line())
            note(
                f"at the end: yardstick {yardstick_ms():.2f} ms"
                " (it grows while others use the machine)"
            )


def _measured(names: Sequence[str], options: Options) -> Iterator[Figure]:
    for name in names:
        yield from PARTS[name](options)
