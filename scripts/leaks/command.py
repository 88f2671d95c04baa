"""The command line of the campaign: ``scripts/evaluate.py secrets``."""

from __future__ import annotations

import argparse
import secrets as randomness
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from leaks import peers
from leaks.everyday import EVERYDAY, everyday
from leaks.false_marks import Count, count, merged
from leaks.kinds import HALVES
from leaks.ordinary import SESSIONS, everything, transcripts
from leaks.planting import Planted, corpus, fits, leaked, plant
from leaks.speed import against


def add(arguments: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    arguments.add_argument("sessions", type=Path, nargs="*", help="folders of transcripts/")
    arguments.add_argument("--seed", default="", help="draw the values of an earlier run again")
    arguments.add_argument("--times", type=int, default=1, help="of each kind on each route")
    arguments.add_argument("--half", choices=HALVES, help="plant this one alone")
    arguments.add_argument("--sources", type=int, default=8, help="read each n-th source; 0: none")
    arguments.add_argument("--list", type=Path, help="write leaks and false redactions there")
    arguments.add_argument(
        "--list-held", action="store_true", help="list leaks of the held half: no rule is made then"
    )
    arguments.add_argument("--against", metavar="REF", help="time this commit's redaction as well")
    arguments.add_argument(
        "--peers",
        action="store_true",
        help="gitleaks and detect-secrets on the same texts: minutes",
    )


def run(chosen: argparse.Namespace) -> int:
    """Plant, look and print; returns the exit code: 0."""
    seed = chosen.seed or randomness.token_hex(4)
    print(f"seed {seed}", flush=True)
    planted = [each for each in corpus(seed, most=chosen.times) if fits(each)]
    planted = [each for each in planted if chosen.half in {None, each.kind.half}]
    with TemporaryDirectory(prefix="observer-secrets-", ignore_cleanup_errors=True) as temporary:
        home = plant(planted, Path(temporary))
        missed = {"observer": leaked(planted, home)}
    texts = list(everything(step=chosen.sources)) if chosen.sources else []
    flagged: dict[str, float] = {}
    if chosen.peers:
        found = peers.run(planted, [each.text for each in texts])
        missed |= {name: each.missed for name, each in found.items()}
        flagged = {name: each.flagged_per_mb for name, each in found.items()}
    _show(planted, missed)
    of_every_day = everyday(times=20, step=2 * chosen.sources) if chosen.sources else ()
    counts = [
        *count(texts),
        *count(of_every_day),
        *(each for folder in chosen.sessions for each in count(transcripts(folder))),
    ]
    _show_false(counts, flagged)
    if chosen.against and texts:
        speed = against(chosen.against, [each.text for each in texts])
        print(
            f"processor time: {speed.ours:.3f} s/MB, {speed.ours / speed.theirs:.2f} x that of"
            f" {chosen.against} ({speed.theirs:.3f})"
        )
    if chosen.list:
        _write(chosen.list, missed["observer"], counts, with_held=chosen.list_held)
    return 0


def _show(planted: Sequence[Planted], missed: dict[str, list[Planted]]) -> None:
    """Print what leaked by family and half, with issuers' formats and what is decided apart."""
    print(f"{'half, family':40}{'planted':>8}" + "".join(f"{name:>18}" for name in missed))
    lost = {name: Counter(_row(each) for each in found) for name, found in missed.items()}
    families = Counter(map(_row, planted))
    for (half, group, family), total in families.items():
        _line(
            f"{half}, {family}{_GROUPS[group]}",
            total,
            [each[half, group, family] for each in lost.values()],
        )
    for half in HALVES:
        for group, title in (
            ("plain", "all other families"),
            ("issuer", "issuers"),
            ("decided", "decided"),
        ):
            rows = [row for row in families if row[:2] == (half, group)]
            if rows:
                totals = [sum(each[row] for row in rows) for each in lost.values()]
                _line(f"ALL {half}: {title}", sum(families[row] for row in rows), totals)


_GROUPS = {"plain": "", "issuer": " (issuers)", "decided": " (decided)"}


def _row(each: Planted) -> tuple[str, str, str]:
    return each.kind.half, each.kind.group, each.kind.family


def _line(title: str, total: int, lost: Sequence[int]) -> None:
    shares = "".join(f"{each:9}{100 * each / max(total, 1):7.1f} %" for each in lost)
    print(f"{title:40}{total:8}{shares}")


def _show_false(counts: Sequence[Count], flagged: dict[str, float]) -> None:
    if not counts:
        return
    print(f"\n{'false redactions in':40}{'MB':>8}{'marks':>8}{'per MB':>9}{'CPU s/MB':>10}")
    ordinary = [each for each in counts if not each.sort.startswith((SESSIONS, EVERYDAY))]
    daily = [each for each in counts if each.sort.startswith(EVERYDAY)]
    for each in (*counts, merged("ALL ordinary", ordinary), merged("ALL of every day", daily)):
        print(
            f"{each.sort:40}{each.characters / 1e6:8.2f}{len(each.marks):8}{each.per_mb:9.2f}"
            f"{each.seconds_per_mb:10.3f}"
        )
    for name, rate in flagged.items():
        print(f"  {name} flags {rate:.2f} lines per MB of the same")


def _write(
    folder: Path, lost: Sequence[Planted], counts: Sequence[Count], *, with_held: bool
) -> None:
    """Write leaks and false redactions into a folder, for a person to judge."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = [each for each in lost if with_held or each.kind.half == "tuning"]
    _lines(
        folder / "leaks.txt",
        (
            f"{each.kind.family} | {each.kind.name} | {each.route} | {each.text!r}"
            for each in listed
        ),
    )
    for file, is_of_sessions in (("false.txt", False), ("false-transcripts.txt", True)):
        _lines(
            folder / file,
            (
                f"{each.sort} | {mark.name} | {mark.rule} | {mark.shown}"
                for each in counts
                if each.sort.startswith(SESSIONS) == is_of_sessions
                for mark in each.marks
            ),
        )


def _lines(file: Path, lines: Iterator[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
