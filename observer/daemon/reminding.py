"""Answers `hooks/recall`, which sends what it would have spooled; the answer is ready to print."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from observer.capture.decode import COMING, decode, foreseen
from observer.capture.envelope import parse
from observer.capture.redact import redact
from observer.events import Event
from observer.front.reminders import printed
from observer.memory import Memory
from observer.paths import Home
from observer.trial import Trials

CAP_BYTES = 65_536
"""As much of a payload as is compared."""
MOST_TOLD = 4_000
"""As many reminders as are kept in mind."""
_ENTRY = "asked"


@contextmanager
def lent_interpreter(home: Home) -> Iterator[None]:
    """Let the hook start the interpreter that runs this: it has no time to look for one."""
    lent = home.run / "python3"
    lent.unlink(missing_ok=True)
    lent.symlink_to(Path(sys.executable).resolve())
    try:
        yield
    finally:
        lent.unlink(missing_ok=True)


class Told:
    """Which session was told what, so that none is told twice, also by the next daemon.

    Safe to share between threads.

    Args:
        file: where it is kept; lost with it is nothing but that.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        lines = file.read_text(encoding="ascii").split() if file.exists() else []
        self._known = dict.fromkeys(lines[-MOST_TOLD:])
        if len(lines) > 2 * MOST_TOLD:
            file.write_text("".join(f"{line}\n" for line in self._known), encoding="ascii")

    def is_first(self, event: Event, about: str) -> bool:
        """Return True, once, if a session was not told of this yet."""
        name = f"{event.client}\0{event.session}\0{about}"
        line = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        with self._lock:
            if line in self._known:
                return False
            self._known[line] = None
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="ascii") as file:
                file.write(f"{line}\n")
        return True


def remind(
    memory: Memory, told: Told, envelope: bytes, *, at_ms: int, trials: Trials | None = None
) -> bytes:
    """Return what the hook prints: mostly nothing, and nothing that the session was told before.

    Args:
        memory: what is asked.
        told: what sessions were told.
        envelope: what `hooks/post` would have spooled.
        at_ms: now.
        trials: may keep a session from being told what counts as told all the same.

    Raises:
        ConfigInvalid: the plan of the trial is damaged.
        Undecodable: it is no envelope, or no payload of its client.
    """
    asked = parse(_ENTRY, envelope, at_ms)
    is_coming = asked.event in COMING
    read = foreseen if is_coming else decode
    for event in read(_ENTRY, envelope, at_ms, cap_bytes=CAP_BYTES):
        known = memory.remind(redact(event), is_coming=is_coming)
        answer = printed(known, client=asked.client, event=asked.event)
        if answer and told.is_first(event, known.about):
            is_withheld = trials and trials.withhold(event.client, event.session, at_ms=at_ms)
            return b"" if is_withheld else answer
    return b""
