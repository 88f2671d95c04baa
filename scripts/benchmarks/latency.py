"""How long after its hook returned an event is found, on a machine that does nothing else."""

from __future__ import annotations

import os
import random
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from benchmarks.homes import Options, memory_of
from observer.cli.doctor.lab import Aim, Figure, Lab, lab, launcher, until, wire

EVENTS = 100
STEP_S = 0.001
PAUSE_S, CLOSE_S = (0.1, 0.4), (0.02, 0.15)
"""From what was found to the next event, at least and at most: mostly, and in a busy session."""
IN_PROCESS_MS, OVER_MCP_MS = Aim(percent=95, most=20.0), Aim(percent=95, most=30.0)


def run(options: Options) -> Iterator[Figure]:
    """Yield the milliseconds from hook to hit, in this process and over MCP."""
    with lab(options) as place:
        project = place.repository("shop")
        place.up()
        rounds = options.rounds(EVENTS)
        with memory_of(place) as memory:
            found = _found(place, project, rounds, lambda w: memory.search(w).hits)
        yield Figure("hooks/post returned to found by search", found, " ms", (IN_PROCESS_MS,))
        argv = launcher()
        with wire(argv, project) as asked:

            def search(word: str) -> object:
                return asked.call("search", query=word)["observations"]

            found = _found(place, project, rounds, search)
            close = _found(place, project, rounds, search, CLOSE_S)
        yield Figure("hooks/post returned to found over MCP", found, " ms", (OVER_MCP_MS,))
        yield Figure("the same, close behind another", close, " ms")


def _found(
    place: Lab,
    project: Path,
    rounds: int,
    search: Callable[[str], object],
    pause_s: tuple[float, float] = PAUSE_S,
) -> list[float]:
    """Return what each round took but the first: how long a daemon starts is `cold`'s figure."""
    took = []
    for _ in range(1 + rounds):
        time.sleep(random.uniform(*pause_s))  # noqa: S311 - events come when they come
        took.append(_until_found(place, project, search))
    return took[1:]


def _until_found(place: Lab, project: Path, search: Callable[[str], object]) -> float:
    word = f"target{uuid.uuid4().hex[:12]}"
    # A request: a command that passed is found only by who asks for commands.
    payload = {
        "session_id": "latency",
        "cwd": str(project),
        "hook_event_name": "UserPromptSubmit",
        "prompt": f"Make the cart keep the price of {word} when it is renamed.",
    }
    subprocess.run(
        [str(place.home.hooks / "post"), "claude-code", "UserPromptSubmit"],
        input=msgspec.json.encode(payload),
        check=True,
        cwd=project,
        env=os.environ,
    )
    returned = time.perf_counter()
    until(lambda: search(word), step_s=STEP_S)
    return (time.perf_counter() - returned) * 1000
