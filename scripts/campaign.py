#!/usr/bin/env python3
"""Let every way of an event and of a home run into every fault, and print what was left.

    scripts/campaign.py [WAY ...] [--minutes N] [--json]

Without --minutes each fault strikes at every step, which takes about an hour; with it at as many
steps as the time allows, spread over all. Exits with 1 if anything was lost, doubled or wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from faults.campaign import FAULTS, Campaign, Fault, Row
from faults.ways import WAYS, Way

COLUMNS = ("way", "fault", "steps", "runs", "offered", "stored", "lost", "doubled", "seen", "wrong")


def main() -> int:
    """Run the ways named on the command line, or all of them."""
    chosen = _arguments()
    os.umask(0o077)
    ends = time.monotonic() + 60 * chosen.minutes if chosen.minutes else float("inf")
    ways = [way for way in WAYS if not chosen.ways or way.name in chosen.ways]
    with tempfile.TemporaryDirectory() as folder:
        rows = _run(Campaign(Path(folder) / "homes"), ways, ends=ends)
    if chosen.json:
        print(msgspec.json.encode(rows).decode())
    else:
        print(_line(COLUMNS), "|---" * len(COLUMNS) + "|", sep="\n")
        print(*map(_line, map(_cells, rows)), sep="\n")
    for wrong in [wrong for row in rows for wrong in row.wrong]:
        print(wrong, file=sys.stderr)
    return 1 if any(row.lost or row.doubled or row.wrong for row in rows) else 0


def _run(campaign: Campaign, ways: list[Way], *, ends: float) -> list[Row]:
    """Strike in turn at each way by each fault, until all steps were taken or the time is up."""
    todo = []
    for way in ways:
        for fault in FAULTS:
            row = campaign.row(way, fault)
            todo.append((way, fault, row, scattered(row.points)))
    rows = [row for _, _, row, _ in todo]
    while todo and time.monotonic() < ends:
        todo = [one for one in todo if _struck(campaign, *one)]
    return rows


def _struck(campaign: Campaign, way: Way, fault: Fault, row: Row, steps: Iterator[int]) -> bool:
    number = next(steps, 0)
    if number:
        campaign.strike(way, fault, number, row)
    return bool(number)


def scattered(count: int) -> Iterator[int]:
    """Yield the numbers from 1 to `count`, each far from those before it, the ends first."""
    bits = max(1, (count - 1).bit_length())
    yield from {1, count} - {0}
    for number in range(1 << bits):
        step = int(f"{number:0{bits}b}"[::-1], 2) + 1
        if 1 < step < count:
            yield step


def _cells(row: Row) -> tuple[object, ...]:
    shown = (row.way, row.fault, row.points, row.runs, row.offered, row.stored, row.lost)
    return (*shown, row.doubled, row.said, len(row.wrong))


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("ways", nargs="*", metavar="WAY")
    parser.add_argument("--minutes", type=float, help="stop after so long")
    parser.add_argument("--json", action="store_true", help="print what a program can read")
    chosen = parser.parse_args()
    known = [way.name for way in WAYS]
    if unknown := set(chosen.ways) - set(known):
        parser.error(f"no such way: {', '.join(unknown)}; there are: {', '.join(known)}")
    return chosen


if __name__ == "__main__":
    raise SystemExit(main())
