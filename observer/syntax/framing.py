"""What two versions of some lines have in common around what differs. The time is linear."""

from __future__ import annotations

from collections.abc import Sequence


def frame(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many lines both begin with, and how many more both end with."""
    start = _alike(before, after)
    return start, _alike(before[start:][::-1], after[start:][::-1])


def only_in(part: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the places of lines that the other does not have, each as often as it lacks it."""
    if not part or not other:
        return [*range(len(part))]
    spare: dict[str, int] = {}
    for line in other:
        spare[line] = spare.get(line, 0) + 1
    found = []
    for place, line in enumerate(part):
        if spare.get(line):
            spare[line] -= 1
        else:
            found.append(place)
    return found


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    for count, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return count
    return min(len(first), len(second))
