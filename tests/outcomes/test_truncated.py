"""Every labelled output behind `tail`, `head` or `cat`: what is left never tells the contrary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from labelled.outcomes import Label

from observer.core.events import Command
from observer.outcomes import outcome
from observer.shell import command_line

DATA = Path(__file__).parents[1] / "data" / "outcomes"
LABELS = msgspec.toml.decode((DATA / "labels.toml").read_bytes(), type=dict[str, Label])
CUTS = ["cat", *(f"{way} -{lines}" for way in ("tail", "head") for lines in (1, 3, 5, 10, 20, 50))]
ONLY_LOOK = {"git-not-here", "ls-missing"}
"""Lines of which nothing fails: what they look for is not there."""


def behind(name: str, cut: str) -> bool | None:
    text = (DATA / f"{name}.txt").read_text()
    way, _, count = cut.partition(" -")
    if count:
        lines = text.splitlines()
        text = "\n".join(lines[-int(count) :] if way == "tail" else lines[: int(count)])
    command = f"{LABELS[name].command} 2>&1 | {cut}"
    ran = Command(command=command, output=text, failed=False)
    return outcome.command_result(ran, command_line.parse_command_line(command)).ok


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_left_of_an_output_never_tells_the_contrary(cut: str) -> None:
    wrong = {
        name
        for name, label in LABELS.items()
        if name not in ONLY_LOOK and behind(name, cut) not in {label.ok, None}
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("cut", "at_least"), [("cat", 0.95), ("tail -50", 0.95), ("tail -20", 0.9)]
)
def test_most_failures_are_seen_in_what_is_left(cut: str, at_least: float) -> None:
    seen = Counter(
        behind(name, cut)
        for name, label in LABELS.items()
        if not label.ok and name not in ONLY_LOOK
    )
    assert seen[False] / seen.total() >= at_least
