"""A note folder as large as a vault of years: its first scan, a save, a checkout, memory."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import shelf
from benchmarks.homes import Options
from observer.cli.doctor.lab import Aim, Figure, Wire, lab, launcher, rss_mib, until, wire
from observer.notes.folders.folders import NoteFolders

NOTES = 20_000
IN_A_FOLDER = 100
CHECKED_OUT = 0.1
"""Share of the notes that a checkout touches."""
SAVES = 20


def run(options: Options) -> Iterator[Figure]:
    """Yield the times until notes can be found, and what the daemon's memory grows by."""
    count = options.items or options.rounds(NOTES)
    words = " ".join(shelf.read(options.texts).narratives).split()
    rng = random.Random(17)  # noqa: S311 - the same notes every time
    argv = launcher()
    with lab(options) as place:
        folder = _laid(place.folder / "vault", rng, words, count)
        daemon = place.up()
        with wire(argv, place.folder, arguments=("--tools", "basic-memory")) as wired:
            before = rss_mib(daemon)
            begun = time.perf_counter()
            NoteFolders(place.home).add(str(folder), name="main")
            _until_found(wired, [f"unique{number}" for number in range(0, count, count // 50)])
            took_s = time.perf_counter() - begun
            yield Figure(f"first scan of {count:,} notes", [took_s], " s", aims=(Aim(most=60),))
            saves = list(_saves(wired, folder, rng, words))
            yield Figure("a saved note is found", saves, " ms", aims=(Aim(most=500),))
            touched = rng.sample(range(count), int(count * CHECKED_OUT))
            begun = time.perf_counter()
            for number in touched:
                _write(folder, number, _said(rng, words, f"branch{number}"))
            _until_found(wired, [f"branch{number}" for number in touched[:: len(touched) // 50]])
            took_s = time.perf_counter() - begun
            yield Figure(f"a checkout of {len(touched):,}", [took_s], " s", aims=(Aim(most=10),))
            grown = rss_mib(daemon) - before
            yield Figure("the daemon grows by", [grown], " MiB", aims=(Aim(most=150),))


def _laid(folder: Path, rng: random.Random, words: list[str], count: int) -> Path:
    for number in range(count):
        _write(folder, number, _said(rng, words, f"unique{number}"))
    return folder


def _until_found(wired: Wire, marks: list[str]) -> None:
    """Wait until notes are found by words that are in none but them."""

    def is_found(mark: str) -> bool:
        asked = {"query": mark, "search_type": "text"}
        return "note-" in str(wired.ask("tools/call", name="search_notes", arguments=asked))

    for mark in marks:
        until(lambda mark=mark: is_found(mark), step_s=0.05, wait_s=600)  # type: ignore[misc]  # bound now


def _said(rng: random.Random, words: list[str], mark: str) -> str:
    lines = [" ".join(rng.choices(words, k=14)).replace("[", "(") for _ in range(12)]
    facts = "\n".join(f"- [fact] {line} #bench" for line in lines[:4])
    return f"---\ntags: [bench]\n---\n# {mark}\n\n{' '.join(lines[4:])}\n\n{facts}\n"


def _write(folder: Path, number: int, text: str) -> None:
    file = folder / f"area-{number // IN_A_FOLDER}" / f"note-{number}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _saves(wired: Wire, folder: Path, rng: random.Random, words: list[str]) -> Iterator[float]:
    """Yield how many milliseconds it takes until a note that is saved can be found."""
    for number in range(SAVES):
        begun = time.perf_counter()
        _write(folder, number, _said(rng, words, f"saved{number}"))
        _until_found(wired, [f"saved{number}"])
        yield (time.perf_counter() - begun) * 1000
