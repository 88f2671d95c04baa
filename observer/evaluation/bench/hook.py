"""What a hook costs beside `sh -c :`, the least that any command hook can cost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

from observer.core.value import decode_json
from observer.evaluation.bench.figure import Aim, Figure, percentile
from observer.evaluation.bench.lab import Lab, Options, lab, until
from observer.evaluation.bench.work import EndlessWork

ROUNDS = 300
WARM_UP = 5
PAUSE_S = 0.02
PAYLOAD_BYTES = 4096
AIM = Aim(most=3.5)
BEFORE_AN_ACTION = Aim(percent=95, most=60)
"""Milliseconds that a client may wait for a reminder before each command and edit."""

NOTHING = ["/bin/sh", "-c", ":"]
_SPAWN = Path(__file__).with_name("spawn.py")


def run(options: Options) -> Iterator[Figure]:
    """Yield the ratios of hook to shell, pair by pair, and what a client waits for `recall`."""
    with lab(options) as place:
        project = place.repository("shop")
        payload = _payload(project)
        post = [str(place.home.hooks / "post"), "claude-code", "PostToolUse"]
        recall = [str(place.home.hooks / "recall"), "claude-code", "PreToolUse"]
        asked = _coming(project)
        yield _waited("hooks/recall, daemon down", recall, asked, options, project)
        yield from _compared("hooks/post, daemon down", post, payload, options, project)
        daemon = place.up()
        yield from _compared("hooks/post, daemon up", post, payload, options, project)
        until(lambda: _has_context(place))
        context = [str(place.home.hooks / "context"), "claude-code"]
        yield from _compared("hooks/context, daemon up", context, payload, options, project)
        yield _waited("hooks/recall, daemon up", recall, asked, options, project)
        os.kill(daemon, signal.SIGSTOP)
        yield from _compared("hooks/post, daemon stopped", post, payload, options, project)
        yield from _compared("hooks/context, daemon stopped", context, payload, options, project)


def _waited(name: str, hook: list[str], payload: str, options: Options, cwd: Path) -> Figure:
    """Return how long a client waits for a hook that answers before an action."""
    (ours,) = _timed([hook], payload, options.rounds(ROUNDS), cwd)
    waited_s, cpu_s = zip(*ours, strict=True)
    remark = f"processor time {1000 * percentile(cpu_s, 50):.1f} ms"
    return Figure(name, [1000 * s for s in waited_s], " ms", (BEFORE_AN_ACTION,), remark=remark)


def _compared(
    name: str, hook: list[str], payload: str, options: Options, cwd: Path
) -> Iterator[Figure]:
    nothing, ours = _timed([NOTHING, hook], payload, options.rounds(ROUNDS), cwd)
    ratios = [b[0] / a[0] for a, b in zip(nothing, ours, strict=True)]
    columns = [column for each in (nothing, ours) for column in zip(*each, strict=True)]
    sh_s, sh_cpu_s, hook_s, hook_cpu_s = (percentile(column, 50) for column in columns)
    remark = (
        f"sh {1000 * sh_s:.2f} ms, hook {1000 * hook_s:.2f} ms; "
        f"of processor time {hook_cpu_s / sh_cpu_s:.2f}x"
    )
    yield Figure(name, ratios, "x", (AIM,), remark=remark)


Times = list[tuple[float, float]]


def _timed(programs: list[list[str]], payload: str, rounds: int, cwd: Path) -> tuple[Times, ...]:
    environ = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    job = {
        "programs": programs,
        "payload": payload,
        "environ": environ,
        "rounds": rounds,
        "warm_up": WARM_UP,
        "pause_s": PAUSE_S,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_SPAWN)],
        input=orjson.dumps(job),
        stdout=subprocess.PIPE,
        check=True,
        cwd=cwd,
    )
    return tuple(decode_json(done.stdout, list[Times]))


def _payload(project: Path) -> str:
    """Return a report of an edit of the size that is common."""
    work = EndlessWork([project], random.Random(1))  # noqa: S311 - the same work each time
    found = (report.payload for report in work if report.event == "PostToolUse")
    near = (p for p in found if abs(len(p) - PAYLOAD_BYTES) < PAYLOAD_BYTES // 20)
    return next(near).decode()


def _coming(project: Path) -> str:
    """Return what Claude Code says of a command that it is about to run."""
    payload = {
        "session_id": "a-session",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "cd src && uv run pytest -q tests 2>&1 | tail -20"},
    }
    return orjson.dumps(payload).decode()


def _has_context(place: Lab) -> bool:
    return any(place.home.context.rglob("CONTEXT.md"))
