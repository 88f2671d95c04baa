"""How fast Ctrl-R shows its first screen and follows a key, in a terminal of its own."""

from __future__ import annotations

import os
import pty
import random
import resource
import select
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.homes import Options
from observer.cli.doctor.lab import Aim, Figure, lab, processor_s, shown, until
from observer.core.clock import now_ms
from observer.core.events import Command, Event
from observer.core.paths import Home
from observer.local import client

COMMANDS, BATCH = 100_000, 5_000
ROUNDS = 40
FIRST, KEY = (Aim(percent=95, most=120.0),), (Aim(percent=95, most=50.0),)
_WORDS = (
    *("git", "make", "test", "push", "status", "deploy", "cargo", "docker"),
    *("run", "build", "log", "grep", "vim", "ssh", "curl", "list"),
)
TYPED = "git push build"


def run(options: Options) -> Iterator[Figure]:
    """Yield the time to the first screen and after a key, and what both cost in processor time."""
    count = options.items or options.rounds(COMMANDS)
    with lab(options) as place:
        daemon = place.up()
        _store(place.home, count)
        rest_mib = _resident_mib(daemon)
        cold = Session(place.home.hooks)
        yield Figure(
            f"first screen, list not read, {count:,} commands", [cold.first_ms], " ms", FIRST
        )
        begun_s = processor_s(daemon)
        until(cold.is_read, wait_s=300.0)
        used = f"{shown(processor_s(daemon) - begun_s)} s of processor time"
        yield Figure(
            "the list of commands, memory", [_resident_mib(daemon) - rest_mib], " MiB", remark=used
        )
        cold.leave()
        first, keys, cost = [], [], []
        for _ in range(options.rounds(ROUNDS)):
            begun_s = processor_s(daemon)
            one = Session(place.home.hooks)
            first.append(one.first_ms)
            keys += [one.press(key) for key in TYPED]
            own_s = one.leave()
            cost.append(1000 * (own_s + processor_s(daemon) - begun_s) / (1 + len(TYPED)))
        yield Figure(f"first screen, {count:,} commands", first, " ms", FIRST)
        yield Figure(f"key, {count:,} commands", keys, " ms", KEY)
        yield Figure("processor time a screen, script and daemon", cost, " ms")


class Session:
    """One Ctrl-R, begun; `first_ms` is how long its first screen took."""

    def __init__(self, hooks: Path) -> None:
        begun = time.perf_counter()
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            termios.tcsetwinsize(0, (24, 80))
            os.execv(hooks / "pick", [str(hooks / "pick")])  # noqa: S606 - as a shell runs it
        self._text = ""
        self._await()
        self.first_ms = 1000 * (time.perf_counter() - begun)

    def press(self, key: str) -> float:
        """Type a key and return the milliseconds until the screen is drawn anew."""
        begun = time.perf_counter()
        os.write(self._terminal, key.encode())
        self._await()
        return 1000 * (time.perf_counter() - begun)

    def is_read(self) -> bool:
        """Draw anew, and return True once the whole list is read."""
        if "reading on" in self._text:
            self._await()
        return "reading on" not in self._text

    def leave(self) -> float:
        """Leave without a choice; return the processor time of the script, in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(self._terminal, b"\x07")
        while select.select([self._terminal], [], [], 10)[0]:
            try:
                os.read(self._terminal, 1 << 16)
            except OSError:  # the other side is closed
                break
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _await(self) -> None:
        """Read until a screen is whole: the cursor is shown again at its end."""
        self._text = ""
        while not self._text.endswith("\x1b[?25h"):
            if not select.select([self._terminal], [], [], 30)[0]:
                raise TimeoutError("no screen was drawn")
            self._text += os.read(self._terminal, 1 << 16).decode(errors="replace")


def _store(home: Home, count: int) -> None:
    chance, now = random.Random(7), now_ms()  # noqa: S311 - made-up commands
    for start in range(0, count, BATCH):
        events = [
            Event(
                id=f"typed-{number}",
                at_ms=now - 60_000 * (count - number),
                client="bash",
                cwd=f"/home/ana/{chance.choice(_WORDS)}",
                author="person",
                session=f"bash-{number // 200}",
                body=Command(
                    command=" ".join(
                        (*chance.sample(_WORDS, 4), str(chance.randrange(count // 3)))
                    ),
                    exit_code=int(number % 9 == 0),
                    failed=number % 9 == 0,
                ),
            )
            for number in range(start, min(count, start + BATCH))
        ]
        client.call(home, "POST", "/import", msgspec.to_builtins(events), wait_s=600.0)


def _resident_mib(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
