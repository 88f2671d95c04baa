"""The daemon killed at random moments under load: what was reported is stored exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from observer import client
from observer.core.errors import DaemonUnavailable
from observer.core.events import Command
from observer.evaluation.bench.figure import Aim, Figure
from observer.evaluation.bench.lab import Lab, Options, lab, until
from observer.spool.spool import Spool
from observer.store.database import SqliteStore

KILLS = 200
ALIVE_S = (0.0, 0.5)
PAUSE_S = 0.004
"""Between two reports of one reporter; there are two of hooks and two of the HTTP API."""
NONE = Aim(percent=95, most=0)


def run(options: Options) -> Iterator[Figure]:
    """Yield what was lost and what was doubled; both must be none."""
    with lab(options) as place:
        project = place.repository("shop")
        kills = options.rounds(KILLS)
        with _reporters(place, project) as reported:
            _kill_often(place, kills)
        place.up()
        until(lambda: Spool(place.home.spool).depth() == 0)
        place.down()
        stored = _stored(place)
        bad = Spool(place.home.spool).bad()
    expected = {word for words in reported for word in words}
    lost = [word for word in expected if word not in stored]
    doubled = [word for word, times in stored.items() if times > 1]
    kept = sum(stored.values())
    remark = f"{kills} kills, {len(expected):,} events reported, {kept:,} stored, {bad} bad"
    yield Figure("kills: events lost", [float(len(lost))], "", (NONE,), remark=remark)
    yield Figure("kills: events doubled", [float(len(doubled))], "", (NONE,))


def _kill_often(place: Lab, kills: int) -> None:
    moments = random.Random(20261122)  # noqa: S311 - any moments will do
    for _ in range(kills):
        daemon = place.up()
        time.sleep(moments.uniform(*ALIVE_S))
        os.kill(daemon, signal.SIGKILL)
        until(lambda: not client.is_running(place.home), step_s=0.001)


@contextmanager
def _reporters(place: Lab, project: Path) -> Iterator[list[list[str]]]:
    """Report from four threads inside the block; lends, for each, what it reported."""
    enough = threading.Event()
    reported: list[list[str]] = [[] for _ in range(4)]
    ways: list[Callable[[Lab, Path, str], None]] = [_by_hook, _by_http] * 2
    threads = [
        threading.Thread(
            target=_report, args=(way, place, project, words, f"r{number}", enough), daemon=True
        )
        for number, (way, words) in enumerate(zip(ways, reported, strict=True))
    ]
    for thread in threads:
        thread.start()
    try:
        yield reported
    finally:
        enough.set()
        place.up()  # who still waits for an answer gets one
        for thread in threads:
            thread.join()


def _report(
    way: Callable[[Lab, Path, str], None],
    place: Lab,
    project: Path,
    words: list[str],
    name: str,
    enough: threading.Event,
) -> None:
    while not enough.wait(PAUSE_S):
        words.append(f"make {name}-{len(words)}")
        way(place, project, words[-1])


def _by_hook(place: Lab, project: Path, word: str) -> None:
    payload = {
        "session_id": "kills",
        "cwd": str(project),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": word,
        "tool_input": {"command": word},
        "tool_response": {"stdout": "done\n" * 100, "stderr": "", "interrupted": False},
    }
    post = [str(place.home.hooks / "post"), "claude-code", "PostToolUse"]
    subprocess.run(post, input=orjson.dumps(payload), check=True, cwd=project)


def _by_http(place: Lab, project: Path, word: str) -> None:
    """Report until it is answered; the id makes a second report harmless."""
    event = {"kind": "command", "command": word, "id": word, "session": "h", "cwd": str(project)}
    while True:
        try:
            client.call(place.home, "POST", "/events", event, wait_s=5)
        except DaemonUnavailable:
            time.sleep(PAUSE_S)
        else:
            return


def _stored(place: Lab) -> Counter[str]:
    found: Counter[str] = Counter()
    store = SqliteStore(place.home.database)
    if (problem := store.check()) != "ok":
        raise RuntimeError(f"the database is damaged: {problem}")
    with store.read() as reader:
        seen = 0
        while batch := reader.log(after_seq=seen):
            bodies = (recorded.event.body for recorded in batch)
            found.update(body.command for body in bodies if isinstance(body, Command))
            seen = batch[-1].seq
    store.close()
    return found
