"""Labels that readers gave by hand: reading them, and how far two readers agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from observer.core.value import Value

FOLDER = Path(__file__).parent / "labels"

_Label = TypeVar("_Label", bound="Label")


class Label(Value):
    """Base of all labels; `reader` says whose it is."""

    reader: str


class OutcomeLabel(Label):
    """What became of a command; `lines` of the output tell the first real error."""

    session: str
    call: str
    verdict: str
    also: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


class FixLabel(Label, rename={"failed": "from", "passed": "to"}):
    """Which call passed after one that failed, and what made the difference."""

    session: str
    failed: str
    passed: str
    also: tuple[str, ...] = ()
    cause: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()


class WhyLabel(Label):
    """The session that wrote a line of a file, as it is in the main branch at last."""

    file: str
    line: int
    session: str


class ItemLabel(Label):
    """Whether anybody would want an item; `session` is "" for what belongs to none."""

    session: str
    at_ms: int
    type: str
    verdict: str


class SummaryLabel(Label):
    """How good a summary is, each from 0 to 2; `when` tells versions of the product apart."""

    session: str
    title: int
    asked: int
    done: int
    open: int
    when: str = ""


def read(name: str, sort: type[_Label], folder: Path = FOLDER) -> list[_Label]:
    """Return the labels of a file; none if there is no such file."""
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return []
    decode = msgspec.json.Decoder(sort).decode
    return [decode(line) for line in path.read_bytes().splitlines() if line]


def agreement(
    labels: Sequence[_Label],
    key: Callable[[_Label], Hashable],
    verdict: Callable[[_Label], Hashable],
) -> tuple[float, int] | None:
    """Return Cohen's kappa of two readers and the count of cases that both have; None without.

    Source: Cohen 1960, "A coefficient of agreement for nominal scales".
    """
    by_case: Mapping[Hashable, dict[str, Hashable]] = defaultdict(dict)
    for label in labels:
        by_case[key(label)][label.reader] = verdict(label)
    pairs = [
        tuple(said[reader] for reader in sorted(said)[:2])
        for said in by_case.values()
        if len(said) > 1
    ]
    if not pairs:
        return None
    alike = sum(one == other for one, other in pairs) / len(pairs)
    ones, others = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    by_chance = sum(ones[said] * others[said] for said in ones) / len(pairs) ** 2
    return (1.0 if by_chance == 1 else (alike - by_chance) / (1 - by_chance)), len(pairs)
