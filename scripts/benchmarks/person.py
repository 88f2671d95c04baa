"""What the daemon takes of a person's machine: while nobody asks, and in an hour of work."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from benchmarks import shelf
from benchmarks.homes import Options
from benchmarks.load import spooled
from benchmarks.recall import queries_of
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    Aim,
    Figure,
    Lab,
    is_quiet,
    lab,
    launcher,
    processor_s,
    rss_mib,
    took_ms,
    until,
    wire,
)
from observer.notes.folders.folders import NoteFolders

SIZES = {2_000: 90.0, 100_000: 140.0}
"""Items, and the MiB that a daemon may hold with them five minutes after it was asked."""
QUERIES = 20
REST_S, WATCHED_S = 300, 60
REPOSITORIES, NOTE_FOLDERS = 10, 3
WAKES = Aim(most=2.0)

HOUR_S = 3_600
EVENT_EVERY_S, ASK_EVERY_S = 12.0, 120.0
"""As in the sessions that docs/benchmarks.md names, in their busiest hours."""
WORK_S = Aim(most=20.0)


def idle(options: Options) -> Iterator[Figure]:
    """Yield memory and wake-ups after five minutes of rest, and the first search after that."""
    for items, most_mib in SIZES.items():
        database = shelf.opened(options.texts, options.work, items)
        with lab(options) as place:
            shutil.copyfile(database, place.home.database)
            daemon = _watching(place)
            with wire(launcher(), place.folder) as asked:
                until(lambda a=asked: "degraded" not in a.call("search", query="total"), wait_s=900)
                until(lambda d=daemon: is_quiet(d), wait_s=900)
                place.down()  # as after a night: who makes an index of years holds more for a while
                daemon = place.up()
                named = f", {items:,} items"
                for texts in queries_of(shelf.read(options.texts), QUERIES).values():
                    for text in texts:
                        asked.call("search", query=text)
                yield Figure(f"asked just now{named}", [rss_mib(daemon)], " MiB")
                time.sleep(REST_S - WATCHED_S)
                wakes, spent_s = _wakes(daemon), processor_s(daemon)
                time.sleep(WATCHED_S)
                wakes = (_wakes(daemon) - wakes) / WATCHED_S
                spent = f"{1000 * (processor_s(daemon) - spent_s) / WATCHED_S:.1f} ms of processor"
                held, aim = rss_mib(daemon), Aim(most=most_mib)
                yield Figure(f"idle for {REST_S} s{named}", [held], " MiB", (aim,))
                yield Figure(f"wake-ups a second{named}", [wakes], "", (WAKES,), f"{spent} time")
                first = took_ms(lambda a=asked: a.call("search", query="total"))
                yield Figure(f"first search after that{named}", [first], " ms")


def _watching(place: Lab) -> int:
    """Start the daemon with repositories in use and note folders; return its process id."""
    projects = [place.repository(f"project-{number}") for number in range(REPOSITORIES)]
    work = EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time
    daemon = place.up()
    for number in range(NOTE_FOLDERS):
        notes = place.folder / f"notes-{number}"
        notes.mkdir()
        (notes / "first.md").write_text("# First\n")
        NoteFolders(place.home).add(str(notes), name=notes.name)
    for number, report in enumerate(islice(work, 20 * REPOSITORIES)):
        spooled(place.home, f"watched-{number}", report)
    return daemon


def _wakes(pid: int) -> int:
    """Count how often the threads of a process were woken so far (Linux)."""
    found = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        lines = (thread / "status").read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
    return found


def hour(options: Options) -> Iterator[Figure]:
    """Yield the processor time of an hour of work; `--quick` measures a tenth of it, in real time.

    What hooks report comes as agents work, and now and then one asks.
    """
    length_s = options.rounds(HOUR_S)
    with lab(options) as place:
        projects = [place.repository(name) for name in ("shop", "billing")]
        work = iter(EndlessWork(projects, random.Random(2)))  # noqa: S311 - the same work each time
        daemon = place.up()
        chance, count = random.Random(5), 0  # noqa: S311 - as above
        with wire(launcher(), projects[0]) as asked:
            until(lambda: is_quiet(daemon))
            before = _by_priority(daemon)
            begun = time.monotonic()
            asks = cycle(("total", "the failing test", "login error", "why was it changed"))
            next_ask = begun + ASK_EVERY_S
            while time.monotonic() < begun + length_s:
                time.sleep(chance.expovariate(1 / EVENT_EVERY_S))
                spooled(place.home, f"hour-{count}", next(work))
                count += 1
                if time.monotonic() > next_ask:
                    asked.call("search", query=next(asks))
                    next_ask += ASK_EVERY_S
            spent = _by_priority(daemon)
    times = HOUR_S / length_s
    whole, low = (times * (spent[part] - before[part]) for part in ("all", "low"))
    remark = f"{count} events in {length_s} s, times {times:g}; {low:.1f} s at lower priority"
    yield Figure("processor time of an hour of work", [whole], " s", (WORK_S,), remark)


def _by_priority(pid: int) -> Counter[str]:
    """Return the processor seconds of a process, and those of threads that let its first go first.

    A question is answered by threads with the priority of the first one (Linux).
    """
    found: Counter[str] = Counter()
    found["all"] = processor_s(pid)
    for thread in Path(f"/proc/{pid}/task").iterdir():
        fields = (thread / "stat").read_text().rpartition(")")[2].split()
        if int(fields[16]) > os.getpriority(os.PRIO_PROCESS, pid):
            found["low"] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found
