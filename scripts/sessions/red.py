"""Whether the red lines of session starts are true, by the runs before them.

A line is false if what it names never failed or checks nothing, or if a later run that covers it
passed before the session began.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from observer.core.model import seq_of
from sessions.checks import Check, checks
from sessions.kept import Kept, Start
from sessions.measures import Measure, Scored, count, line, share
from sessions.outputs import failed, plain
from sessions.shell import parts
from sessions.truth import HOOKED, Ran, commands, commits

_GROUP = "red lines"
_FRESH_MS = 7 * 86_400_000
"""An open failure of this age or less should be shown."""
_LINE = re.compile(
    r"^#(\d+) ((?:still )?(?:red|failing)\b[^·]*) · (.*)$", re.MULTILINE | re.IGNORECASE
)


class Red(NamedTuple):
    """A red line: the session start that showed it, the item that it names, and its words."""

    start: Start
    item: int
    why: str
    text: str


class Judged(NamedTuple):
    """A red line and what is wrong with it; "" is nothing, "?" cannot be known."""

    red: Red
    fault: str


def scored(kept: Kept) -> Scored:
    """Return how many red lines are true."""
    judged = list(judge(kept))
    known = [each for each in judged if each.fault != "?"]
    false = [each for each in known if each.fault]
    measures: list[Measure] = [
        share(_GROUP, "true", len(known) - len(false), len(known)),
        count(_GROUP, "shown", len(judged)),
        count(_GROUP, "false", len(false)),
        count(_GROUP, "undecided", len(judged) - len(known)),
        share(_GROUP, "open failures shown", *_open_failures(kept, judged)),
        share(_GROUP, "open failures shown, of the branch", *_open_failures(kept, judged, _here)),
    ]
    return Scored(measures=tuple(measures), wrong=tuple(map(_shown, false)))


def lines(start: Start) -> Iterator[Red]:
    """Yield the red lines of a session start."""
    for found in _LINE.finditer(start.context):
        yield Red(start, int(found[1]), found[2], found[3])


def judge(kept: Kept) -> Iterator[Judged]:
    """Yield all red lines with their faults."""
    ran = commands(kept)
    for start in kept.log.starts:
        before = _before(ran, start)
        for red in lines(start):
            run = _failed_run(kept, red, before)
            yield Judged(red, (_misnamed(red, run) if run else "") or _fault(run, before))


def _before(ran: Sequence[Ran], start: Start) -> list[Ran]:
    return [
        each
        for each in ran
        if each.step.at_ms < start.at_ms and each.step.repository.name == start.repository
    ]


def _failed_run(kept: Kept, red: Red, before: Sequence[Ran]) -> Ran | None:
    """Return the run that a line is about: of those like the first of its item, the last."""
    first = next((each for each in kept.events if each.seq == seq_of(red.item)), None)
    key = first.event.dedup.split(":")[1:3] if first else []
    found = next((each for each in before if [each.step.session, each.call] == key), None)
    if found is None:
        return None
    like = [
        each
        for each in before
        if each.command == found.command and each.step.session == found.step.session
    ]
    failing = [each for each in like if each.verdict in {"failed", "undecided"}]
    return failing[-1] if failing else found


def _misnamed(red: Red, run: Ran) -> str:
    """Return what is wrong with the command that a line names, "" if that did not pass."""
    named = {check.kind for _, check in checks(parts(red.text.partition(": ")[0]))}
    passed = {check.kind for check, verdict in run.results() if verdict == "passed"}
    return "names what passed" if named and named <= passed else ""


def _fault(run: Ran | None, before: Sequence[Ran]) -> str:
    if run is None:
        return "?"
    results = list(run.results())
    if not results:
        return "not a check"
    if run.verdict in {"passed", "unknown"}:
        return "never failed" if run.verdict == "passed" else "never ran"
    if all(verdict == "unknown" for _, verdict in results):
        return "never got as far as its check"
    failed = [check for check, verdict in results if verdict == "failed"]
    maybe = failed or [check for check, verdict in results if verdict == "undecided"]
    later = [each for each in before if each.step.at_ms > run.step.at_ms]
    cleared = [_clearing(check, later) for check in maybe]
    if not all(cleared):
        is_mended = any(_clearing(check, later, by_mending=True) for check in maybe)
        return "" if failed and not is_mended else "?"
    return "passed since: " + "; ".join(line(each.command, 60) for each in cleared if each)


def _clearing(check: Check, later: Sequence[Ran], *, by_mending: bool = False) -> Ran | None:
    for run in later:
        for other, verdict in run.results():
            judges = other.mends in (check.mends, by_mending)
            if verdict == "passed" and judges and other.covers(check):
                return run
    return None


def _all_before(_start: Start, before: Sequence[Ran]) -> Sequence[Ran]:
    return before


def _here(start: Start, before: Sequence[Ran]) -> Sequence[Ran]:
    """Return what ran on the branch of a start: what fails on another one does not fail here."""
    return [run for run in before if run.step.happened.branch in {"", start.branch}]


def _open_failures(
    kept: Kept,
    judged: Sequence[Judged],
    chosen: Callable[[Start, Sequence[Ran]], Sequence[Ran]] = _all_before,
) -> tuple[int, int]:
    """Return how many open failures red lines tell, and how many there are."""
    ran = commands(kept)
    shown = open_ones = 0
    for start in kept.log.starts:
        kinds = still_open(chosen(start, _before(ran, start)), start.at_ms - _FRESH_MS)
        said = " ".join(each.red.text for each in judged if each.red.start is start)
        open_ones += len(kinds)
        shown += sum(name in said for name in kinds)
    return shown, open_ones


def still_open(before: Sequence[Ran], since_ms: int) -> list[str]:
    """Return the names of checks that failed when one of their kind ran last.

    A commit that gets through git's hooks passes the kinds that these were seen to fail in.
    """
    last: dict[tuple[str, str], tuple[str, str]] = {}
    hooked: set[str] = set()
    for run in before:
        if run.step.at_ms >= since_ms:
            for check, verdict in run.results():
                if verdict in {"passed", "failed"}:
                    last[check.kind, check.folder] = check.name, verdict
        if any(map(commits, run.parts)) and run.verdict == "failed":
            hooked |= {kind for kind in HOOKED if failed(plain(run.output), {kind}, filtered=True)}
        elif any(map(commits, run.parts)) and run.verdict == "passed":
            last = {key: said for key, said in last.items() if key[0] not in hooked}
    return [name for name, verdict in last.values() if verdict == "failed"]


def _shown(judged: Judged) -> str:
    red = judged.red
    return f"{red.start.number} #{red.item} {line(red.text, 90)} | {judged.fault}"
