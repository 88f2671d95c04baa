"""How often memory could have helped with a failure: one that an earlier session met and mended.

Two failures are alike if they print a line alike that nothing that passed prints, numbers, hashes
and folders aside; each counts once a session. One is mended when its check, or a command of the
same first words, passes later in its session. That bounds from above what a reminder of how a
failure was mended can do: `mended alike` are those where a command or file of the mending came
back, and `late` those of them that took more than `AT_ONCE` calls. What could not run at all is
`dead end`, and of the scorer of reminders.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sessions.kept import Kept
from sessions.measures import Scored, count, line, share
from sessions.outputs import plain
from sessions.reminders import complaint
from sessions.shell import Part
from sessions.transcript import HookEvent
from sessions.truth import Ran, commands

AT_ONCE = 3
"""Calls within which a session mends what it needed no help with."""
_GROUP = "occasions"
_VARIES = re.compile(r"(?:/?[\w.@~-]+/)+|\b[0-9a-f]{7,40}\b|\d+")
_CLIENTS = re.compile(r"\AExit code \d+\n?")
"""What the client says of any failure."""
_LETTERS = 8
"""A line of fewer says nothing."""


class Met(NamedTuple):
    """A failure, the lines that tell it, and what mended it, nothing where nothing did.

    `calls` counts the calls up to the pass.
    """

    ran: Ran
    lines: frozenset[str]
    mended_by: frozenset[str]
    calls: int = 0


class Occasion(NamedTuple):
    """A failure of a session, and the latest one alike of an earlier session that was mended."""

    now: Met
    before: Met

    @property
    def alike(self) -> frozenset[str]:
        """What mended both."""
        return self.now.mended_by & self.before.mended_by


def scored(kept: Kept) -> Scored:
    """Return how many failures of a corpus were met and mended before, in an earlier session."""
    met = failures(kept)
    found = list(occasions(met))
    alike = [each for each in found if each.alike]
    measures = (
        count(_GROUP, "dead ends", sum(bool(_complaint(ran)) for ran in _failed(kept))),
        count(_GROUP, "failures", len(met)),
        share(_GROUP, "met and mended before", len(found), len(met)),
        share(_GROUP, "mended alike", len(alike), len(met)),
        share(
            _GROUP, "mended alike, late", sum(each.now.calls > AT_ONCE for each in alike), len(met)
        ),
    )
    return Scored(measures=measures, wrong=tuple(map(_shown, found)))


def failures(kept: Kept) -> list[Met]:
    """Return the failures of commands that did run, in order."""
    ran = commands(kept)
    passed = {line for each in ran if each.verdict == "passed" for line in _lines(each)}
    edited = _edited(kept)
    return [
        _met(each, ran, _lines(each) - passed, edited)
        for each in _failed(kept)
        if not _complaint(each)
    ]


def occasions(met: Sequence[Met]) -> Iterator[Occasion]:
    """Yield the failures that are news to their session and none to an earlier one."""
    known: dict[tuple[str, str], list[Met]] = defaultdict(list)
    for each in met:
        name, session = each.ran.step.repository.name, each.ran.step.session
        like = [one for said in each.lines for one in known[name, said]]
        is_new = all(one.ran.step.session != session for one in like)
        if mended := [one for one in like if one.mended_by and is_new]:
            closest = max(
                mended, key=lambda one: (len(one.mended_by & each.mended_by), one.ran.step.at_ms)
            )
            yield Occasion(each, closest)
        for said in each.lines:
            known[name, said].append(each)


def _failed(kept: Kept) -> list[Ran]:
    return [each for each in commands(kept) if each.verdict == "failed"]


def _complaint(ran: Ran) -> str:
    return complaint(ran.command, ran.output)


def _lines(ran: Ran) -> frozenset[str]:
    output = _CLIENTS.sub("", plain(ran.output))
    lines = (_VARIES.sub("#", said.strip()).casefold() for said in output.splitlines())
    return frozenset(said for said in lines if sum(map(str.isalpha, said)) >= _LETTERS)


def _edited(kept: Kept) -> dict[str, list[tuple[int, str]]]:
    """Return the files that each session edited, with the time."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for step in kept.calls("Edit", "Write", "MultiEdit"):
        if isinstance(step.happened, HookEvent):
            path = str(step.happened.payload["tool_input"].get("file_path", ""))
            found[step.session].append((step.at_ms, step.repository.relative(path)))
    return found


def _met(
    ran: Ran, every: Sequence[Ran], lines: frozenset[str], edited: dict[str, list[tuple[int, str]]]
) -> Met:
    session, begun = ran.step.session, ran.step.at_ms
    later = [one for one in every if one.step.session == session and one.step.at_ms > begun]
    passed = next((one for one in later if _passes(one, ran)), None)
    if passed is None:
        return Met(ran, lines, frozenset())
    until = passed.step.at_ms
    between = [one for one in later if one.step.at_ms <= until and one.verdict == "passed"]
    files = {path for at_ms, path in edited[session] if begun < at_ms < until}
    return Met(
        ran,
        lines,
        frozenset({one.command for one in between} | files - {""}),
        passed.step.place - ran.step.place,
    )


def _passes(later: Ran, failed: Ran) -> bool:
    """Return True if a run shows that what failed in another one is mended."""
    broken = [check for check, verdict in failed.results() if verdict != "passed"]
    if broken:
        fine = [check for check, verdict in later.results() if verdict == "passed"]
        return any(one.covers(check) for check in broken for one in fine)
    first = {_first(part) for part in failed.parts}
    return later.verdict == "passed" and any(_first(part) in first for part in later.parts)


def _first(part: Part) -> tuple[str, ...]:
    return (part.program, *part.words[1:2])


def _shown(found: Occasion) -> str:
    now, before = found
    shared = max(now.lines & before.lines, key=len)
    return (
        f"{now.ran.step.session[:8]} {now.ran.step.place} ({now.calls} calls):"
        f" {line(now.ran.command, 90)} | {line(shared, 110)}"
        f" <- {before.ran.step.session[:8]} {before.ran.step.place}:"
        f" {line('; '.join(sorted(found.alike)), 160)}"
    )
