"""Times short processes, from a process small enough to start others cheaply.

`python -I -S spawn.py` reads one job as JSON from stdin and writes JSON: for each program a list of
pairs, seconds by the clock and of processor time. Programs run in turn, A B A B …, so that a busy
moment hits all of them alike. Standard library only, and started by path.
"""

from __future__ import annotations

import json
import os
import sys
import time


def once(argv: list[str], payload: bytes, environ: dict[str, str]) -> tuple[float, float]:
    """Run a program to its end with a payload on its stdin; return the seconds of both clocks."""
    reading, writing = os.pipe()
    os.write(writing, payload)
    os.close(writing)
    actions = [
        (os.POSIX_SPAWN_DUP2, reading, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    begun = time.perf_counter()
    child = os.posix_spawn(argv[0], argv, environ, file_actions=actions)
    _, _, used = os.wait4(child, 0)  # what it started itself included
    took_s = time.perf_counter() - begun
    os.close(reading)
    return took_s, used.ru_utime + used.ru_stime


def main() -> None:
    """Do the job on stdin."""
    job = json.load(sys.stdin)
    payload = job["payload"].encode()
    took: list[list[tuple[float, float]]] = [[] for _ in job["programs"]]
    for number in range(job["rounds"] + job["warm_up"]):
        for times, argv in zip(took, job["programs"], strict=True):
            spent = once(argv, payload, job["environ"])
            if number >= job["warm_up"]:
                times.append(spent)
        time.sleep(job["pause_s"])
    json.dump(took, sys.stdout)


if __name__ == "__main__":
    main()
