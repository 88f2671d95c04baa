#!/usr/bin/env python3
"""Feed every reader of foreign bytes with bytes that nobody foresaw, led by what they run.

    scripts/fuzz.py [TARGET ...] [--minutes N]

Each target has its share of the minutes (10) in a process of its own, under libFuzzer (atheris).
Prints executions, the slowest, and crashes; exits with 1 if there are any, and says where the bytes
are that caused them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=20000", "-print_final_stats=1")
_STATISTIC = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_SLOWEST = re.compile(r"stat::slowest_unit_time_sec:\s*(\d+)")


class Fuzzed(NamedTuple):
    """What became of one target; `crash` is the end of what it said, empty if it had none."""

    executions: int
    slowest_s: int
    crash: str


def main() -> int:
    """Fuzz the targets named on the command line, or all of them."""
    chosen = _arguments()
    if chosen.inside:
        _be_fuzzed(*chosen.inside)
    from faults.targets import TARGETS  # noqa: PLC0415 - the process inside has its own import

    names = chosen.targets or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        print(f"no such target: {', '.join(unknown)}; there are: {', '.join(TARGETS)}")
        return 2
    found = Path(tempfile.mkdtemp(prefix="observer-crashes-"))
    print("| target | executions | slowest, s | crashes |", "|---|---|---|---|", sep="\n")
    crashes = []
    for name in names:
        done = _fuzzed(name, 60 * chosen.minutes / len(names), found)
        crashes += [f"{name}\n{done.crash}"] if done.crash else []
        cells = (name, f"{done.executions:,}", done.slowest_s, int(bool(done.crash)))
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if crashes:
        print(f"the bytes are in {found}", *crashes, sep="\n\n", file=sys.stderr)
    else:
        found.rmdir()
    return 1 if crashes else 0


def _fuzzed(name: str, seconds: float, found: Path) -> Fuzzed:
    from faults.targets import TARGETS  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(TARGETS[name].seeds()):
            (corpus / str(number)).write_bytes(seed)
        limits = (*LIMITS, f"-max_total_time={max(1, round(seconds))}")
        prefix = f"-artifact_prefix={found}/{name.replace(' ', '-')}-"
        ran = subprocess.run(
            [sys.executable, __file__, "--inside", name, *limits, prefix, str(corpus)],
            capture_output=True,
            check=False,
            env={**os.environ, "TMPDIR": folder},
        )
    said = ran.stderr.decode(errors="replace") + ran.stdout.decode(errors="replace")
    executed, slowest = _STATISTIC.search(said), _SLOWEST.search(said)
    return Fuzzed(
        executions=int(executed[1]) if executed else 0,
        slowest_s=int(slowest[1]) if slowest else 0,
        crash="" if ran.returncode == 0 else said[-4000:],
    )


def _be_fuzzed(name: str, *arguments: str) -> None:
    """Be the process that runs one target, until libFuzzer ends it."""
    import atheris  # noqa: PLC0415 - a package of those who develop observer

    with atheris.instrument_imports(include=["observer"]):
        from faults.targets import TARGETS  # noqa: PLC0415 - has to be seen by atheris
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name].run)
    atheris.Fuzz()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--minutes", type=float, default=10, help="time for all of them together")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
