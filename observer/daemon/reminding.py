"""Answers `hooks/recall`, which sends what it would have spooled; the answer is ready to print."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from observer.capture.decode import decode
from observer.capture.envelope import parse
from observer.capture.redact import redact
from observer.front.reminders import printed
from observer.memory import Memory
from observer.paths import Home

CAP_BYTES = 65_536
"""As much of a payload as is compared."""
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


def remind(memory: Memory, envelope: bytes, *, at_ms: int) -> bytes:
    """Return what the hook prints: nothing unless there is something strong to say.

    Args:
        memory: what is asked.
        envelope: what `hooks/post` would have spooled.
        at_ms: now.

    Raises:
        Undecodable: it is no envelope, or no payload of its client.
    """
    asked = parse(_ENTRY, envelope, at_ms)
    for event in decode(_ENTRY, envelope, at_ms, cap_bytes=CAP_BYTES):
        known = memory.remind(redact(event))
        if known.is_strong:
            return printed(known, client=asked.client, event=asked.event)
    return b""
