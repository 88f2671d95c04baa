"""What runners of several tasks say of them: turbo, nx, tox, nox.

Part of interpretation (step 6). They only count which tasks failed; what these complained of
stands above, and is for the tools' own readers. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

from collections.abc import Mapping

from observer.core.text import counted
from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    failed_result,
    last_match,
    line_pattern,
)

COUNTING = frozenset({"turbo", "nx", "tox", "nox"})
"""The tools that the results of these readers are signed by."""

_TURBO_END = line_pattern(r" *Tasks: +(\d+) successful, (\d+) total$")


def turbo(text: str) -> CommandResult | None:
    """Read how many tasks turbo got through."""
    end = last_match(_TURBO_END, text)
    if end is None:
        return None
    done, every = map(int, end.groups())
    if done == every:
        return CommandResult(tool="turbo", ok=True, said=f"{done} tasks")
    return failed_result("turbo", f"{every - done} of {every} tasks failed", Diagnostic())


_NX_END = line_pattern(
    r"\s*NX +(?:(Successfully ran targets?)|Ran targets?|Running targets? [^\n]* failed)\b[^\n]*$"
)
_NX_NOTHING = line_pattern(r"\s*NX +No tasks were run\b")
_NX_COUNT = line_pattern(r"\s*\u2716 +(\d+)/(\d+) (?:targets? )?failed")
_NX_BAD = line_pattern(r"\s*- (?:nx run )?(\S+:\S+)$")


def nx(text: str) -> CommandResult | None:
    """Read how nx ended: what it ran, and which targets of that failed."""
    end = last_match(_NX_END, text)
    if end is None:
        return (
            CommandResult(tool="nx", said="no tasks were run") if _NX_NOTHING.search(text) else None
        )
    if end.group(1):
        return CommandResult(tool="nx", ok=True, said="all targets ran")
    bad, count = _NX_BAD.search(text, end.end()), _NX_COUNT.search(text, end.end())
    said = f"{count[1]} of {count[2]} targets failed" if count else "a target failed"
    return failed_result("nx", said, Diagnostic(f"{bad[1]} failed" if bad else ""))


_TOX_ROW = line_pattern(
    r"(?:ERROR: )? {2,3}(\S+): (OK|FAIL|commands succeeded|commands failed|Invocation)[^\n]*$"
)
_NOX_ROW = line_pattern(
    r"nox > (?:Session|\*) (\S[^\n]*?)(?: was|:)? (success|failed|aborted)[^\n]*$"
)


def tox(text: str) -> CommandResult | None:
    """Read which of tox's environments failed."""
    rows = {name: said in {"OK", "commands succeeded"} for name, said in _TOX_ROW.findall(text)}
    return _of_rows("tox", "environment", rows)


def nox(text: str) -> CommandResult | None:
    """Read which of nox's sessions failed."""
    rows = {name: said == "success" for name, said in _NOX_ROW.findall(text)}
    return _of_rows("nox", "session", rows)


def _of_rows(tool: str, noun: str, rows: Mapping[str, bool]) -> CommandResult | None:
    every = counted(len(rows), noun)
    bad = [name for name, is_ok in rows.items() if not is_ok]
    if not bad:
        return CommandResult(tool=tool, ok=True, said=f"{every} passed") if rows else None
    said = f"{len(bad)} of {every} failed" if len(rows) > 1 else f"{every} failed"
    return failed_result(tool, said, Diagnostic(f"{bad[0]} failed"))


PARSERS = (
    OutputParser(turbo, ("turbo",), (" successful, ",)),
    OutputParser(nx, ("nx",), (" NX ",)),
    OutputParser(tox, ("tox",), ("congratulations :)", "evaluation failed :(", ": commands ")),
    OutputParser(nox, ("nox",), ("nox > Session ",)),
)
