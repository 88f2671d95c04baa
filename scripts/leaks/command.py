"""The command line of the campaign: ``scripts/evaluate.py secrets``."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from leaks import peer
from leaks.ordinary import drawn, sources
from leaks.planting import Planted, corpus, leaked, plant
from observer.redaction.redact import redact_text

_MARK = "[redacted:"
_HALVES: dict[str, Callable[[Planted], bool]] = {
    "all": lambda _: True,
    "tuning": lambda each: not each.is_held,
    "held": lambda each: each.is_held,
}


def add(arguments: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    arguments.add_argument("--renderings", type=int, default=2, help="of each kind in each route")
    arguments.add_argument("--half", choices=_HALVES, default="all", help="which to count")
    arguments.add_argument("--list", action="store_true", help="print what leaked, and false marks")
    arguments.add_argument("--sources", type=int, default=8, help="read each n-th source; 0: none")
    arguments.add_argument("--peer", action="store_true", help="detect-secrets on the same texts")


def run(chosen: argparse.Namespace) -> int:
    """Plant, look and print; returns the exit code: 0."""
    secrets = list(corpus(most=chosen.renderings))
    with TemporaryDirectory(prefix="observer-secrets-", ignore_cleanup_errors=True) as temporary:
        home = plant(secrets, Path(temporary))
        found = leaked(secrets, home)
    counted = [each for each in secrets if _HALVES[chosen.half](each)]
    lost = [each for each in found if _HALVES[chosen.half](each)]
    _show("family", counted, lost, by=lambda each: each.family)
    _show("route", counted, lost, by=lambda each: each.route)
    _show("kind", counted, lost, by=lambda each: each.kind, is_short=True)
    _line("all", len(lost), len(counted))
    if chosen.list:
        print(*(f"{each.kind} | {each.route} | {each.text!r}" for each in lost), sep="\n")
    if chosen.peer:
        missed = peer.missed(counted)
        _show("detect-secrets, family", counted, missed, by=lambda each: each.family)
        _line("detect-secrets, all", len(missed), len(counted))
    _false(chosen.sources, is_listed=chosen.list)
    if chosen.peer and chosen.sources:
        flagged, size = peer.flagged(text for _, text in sources(step=chosen.sources))
        print(f"detect-secrets in sources: {flagged}, {1e6 * flagged / size:.2f} per MB")
    return 0


def _show(
    title: str,
    planted: Sequence[Planted],
    lost: Sequence[Planted],
    *,
    by: Callable[[Planted], str],
    is_short: bool = False,
) -> None:
    totals, leaks = Counter(map(by, planted)), Counter(map(by, lost))
    print(f"{title} ({len(totals)}){'' if not is_short else ', those that leak'}")
    for name, total in totals.items():
        if leaks[name] or not is_short:
            _line(name, leaks[name], total)


def _line(name: str, leaks: int, total: int) -> None:
    print(f"  {name:24}{leaks:6} of {total:6}{100 * leaks / max(total, 1):8.2f} %")


def _false(step: int, *, is_listed: bool) -> None:
    _marks("ordinary text", drawn(times=200), is_listed=is_listed)
    if step:
        _marks(
            "sources", ((str(path), text) for path, text in sources(step=step)), is_listed=is_listed
        )


def _marks(title: str, texts: Iterable[tuple[str, str]], *, is_listed: bool) -> None:
    size = marks = 0
    begun = time.process_time()
    for name, text in texts:
        clean = redact_text(text)
        size += len(text)
        if new := clean.count(_MARK) - text.count(_MARK):
            marks += new
            if is_listed:
                print(f"  {name}: {new}")
    rate = 1e6 * marks / max(size, 1)
    seconds = time.process_time() - begun
    print(f"false in {title}: {marks} in {size / 1e6:.1f} MB, {rate:.2f} per MB, {seconds:.1f} s")
