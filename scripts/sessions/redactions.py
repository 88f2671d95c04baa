"""How often the store holds `[redacted:…]`, and where."""

from __future__ import annotations

import re

import msgspec

from sessions.kept import Kept
from sessions.measures import Scored, count, line

_GROUP = "redactions"
_MARK = re.compile(r"\[redacted:[\w-]+\]")


def scored(kept: Kept) -> Scored:
    """Return how many there are in events that transcripts do not already hold themselves."""
    found = [
        (each.seq, text, mark)
        for each in kept.events
        for text in [msgspec.json.encode(each.event).decode()]
        for mark in _MARK.finditer(text)
    ]
    return Scored(
        measures=(
            count(_GROUP, "marks in the store", len(found)),
            count(_GROUP, "events with marks", len({seq for seq, _, _ in found})),
        ),
        wrong=tuple(
            f"event {seq}: {line(text[max(mark.start() - 60, 0) : mark.end() + 30])}"
            for seq, text, mark in found
        ),
    )
