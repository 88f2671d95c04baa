#!/usr/bin/env python3
"""Measure what observer promises, on this machine, in homes that are thrown away.

    scripts/bench.py [NAME ...] [--quick]

Prints one line a figure: name, p50, p95, count, and the aim with its verdict. Compare medians and
pairwise ratios; absolute times are worth as much as the machine is idle.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks import (
    busy,
    ctrlr,
    daily,
    files,
    latency,
    load,
    mcp,
    notes,
    peer,
    peers,
    person,
    recall,
    shares,
    soak,
    vault,
    web,
)
from benchmarks.homes import Options

from observer.cli.doctor import speed
from observer.cli.doctor.lab import ROOT, Figure, machine, yardstick_ms

QUICK = 0.1
FIGURES: dict[str, Callable[[Options], Iterator[Figure]]] = {
    "hook": speed.hooks,
    "latency": latency.run,
    "sizes": speed.sizes,
    "daily": daily.run,
    "drain": daily.drained,
    "busy": busy.run,
    "mcp": mcp.run,
    "cold": mcp.cold,
    "idle": person.idle,
    "hour": person.hour,
    "recall": recall.run,
    "peers": peers.run,
    "peer": peer.run,
    "notes": notes.run,
    "files": files.run,
    "vault": vault.run,
    "web": web.run,
    "ctrlr": ctrlr.run,
    "kills": speed.kills,
    "load": load.run,
    "soak": soak.run,
    "share": shares.between,
    "team": shares.team,
    "cost": shares.cost,
}


def main() -> int:
    """Measure the figures named on the command line, or all of them."""
    chosen = _arguments()
    # Whoever ends us by SIGTERM gets the same orderly end as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(machine(), flush=True)
    with ExitStack() as stack:
        work = chosen.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work.mkdir(parents=True, exist_ok=True)
        options = Options(
            share=QUICK if chosen.quick else 1.0,
            texts=chosen.texts,
            work=work.resolve(),
            items=chosen.items,
            peer=chosen.peer and chosen.peer.resolve(),
        )
        try:
            for name in chosen.names or FIGURES:
                for figure in FIGURES[name](options):
                    print(figure.line(), flush=True)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
    print(f"at the end: load {os.getloadavg()[0]:.2f} · yardstick {yardstick_ms():.2f} ms")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], epilog="figures: " + ", ".join(FIGURES)
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures to measure; all if none")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument(
        "--texts", type=Path, default=ROOT, help="folder whose texts the items of `recall` hold"
    )
    parser.add_argument(
        "--items",
        type=int,
        default=0,
        help="items of `recall` and others, events of `soak`, seconds of `team`",
    )
    parser.add_argument("--peer", type=Path, help="folder of kiro-memory or basic-memory")
    parser.add_argument("--work", type=Path, help="folder to work in; keeps the store of `recall`")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.names if name not in FIGURES]:
        parser.error(f"no figure {unknown[0]!r}; choose among: {', '.join(FIGURES)}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
