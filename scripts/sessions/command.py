"""The command line of the replay: ``scripts/evaluate.py sessions``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sessions.kept import Kept
from sessions.replay import Options, Replay
from sessions.report import SCORERS, as_json, score, table


def add(arguments: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    arguments.add_argument("folder", type=Path, help="transcripts/ and repository.bundle")
    arguments.add_argument("--keep", type=Path, help="leave everything in this new folder")
    arguments.add_argument("--kept", type=Path, help="score what was kept here; replay nothing")
    arguments.add_argument("--embed", action="store_true", help="vectors too, as in the daemon")
    arguments.add_argument("--search", action="store_true", help="search at every prompt")
    arguments.add_argument("--recall", action="store_true", help="ask for reminders as hooks do")
    arguments.add_argument("--limit", type=int, default=0, help="replay so many steps only")
    arguments.add_argument("--questions", type=Path, help="ask these, not those of the folder")
    arguments.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments.add_argument("--list", choices=sorted(SCORERS), help="print what is wrong, by case")
    arguments.add_argument("--only", choices=sorted(SCORERS), help="score this alone")


def run(chosen: argparse.Namespace) -> int:
    """Replay, score and print; returns the exit code."""
    if chosen.kept and not (chosen.kept / "log.json").exists():
        print(f"error: {chosen.kept} does not hold a finished replay", file=sys.stderr)
        return 2
    if chosen.keep and chosen.keep.exists() and any(chosen.keep.iterdir()):
        print(f"error: {chosen.keep} is not empty", file=sys.stderr)
        return 2
    if chosen.questions and not chosen.questions.is_file():
        print(f"error: there is no file {chosen.questions}", file=sys.stderr)
        return 2
    with _replayed(chosen) as kept:
        only = chosen.list or chosen.only
        found = score(kept, (only,) if only else tuple(SCORERS))
        if chosen.json:
            print(as_json(found).decode())
        else:
            print(table(found))
        if chosen.list:
            print(*found[chosen.list].wrong, sep="\n")
    return 0


@contextmanager
def _replayed(chosen: argparse.Namespace) -> Iterator[Kept]:
    corpus = chosen.folder.resolve()
    if chosen.kept:
        yield Kept(chosen.kept.resolve(), corpus, chosen.questions)
        return
    options = Options(
        embed=chosen.embed, search=chosen.search, recall=chosen.recall, limit=chosen.limit
    )
    with TemporaryDirectory(prefix="observer-sessions-", ignore_cleanup_errors=True) as temporary:
        folder = chosen.keep.resolve() if chosen.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept = Kept(folder, corpus, chosen.questions)
        Replay(kept, options).run()
        counts = kept.log.counts
        print(f"{counts.sent} hook calls in {counts.seconds} s", file=sys.stderr)
        yield kept
