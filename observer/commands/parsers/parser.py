"""The parser of one tool's output: how it is read, and the marks by which it is recognized.

What most tools print fits a `Format`; the others have a function: text without colours in,
`CommandResult` out, or None when the tool's own words are not there. Patterns are anchored to lines
and linear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    problem_result,
    run_result,
    word_counts,
)

Read = Callable[[str], CommandResult | None]
_STACK_CHARS = 6000
_DIGITS = "0123456789"
_TESTS = frozenset({"passed", "every", "counts"})


class OutputParser(NamedTuple):
    """The parser of a tool; one of `marks` is in its output, whatever started it (make, npm).

    `is_raised` holds for parsers of what any program prints when it breaks.
    """

    read: Read
    tools: tuple[str, ...]
    marks: tuple[str, ...]
    is_raised: bool = False


def in_turn(*reads: Read) -> Read:
    """Return a function that reads what the first of several finds."""

    def read(text: str) -> CommandResult | None:
        return next(filter(None, (each(text) for each in reads)), None)

    return read


def diagnostic(found: re.Match[str] | None) -> Diagnostic:
    """Return what the groups of a match say; a name may end in a digit, to be there twice.

    `kind` and `code` stand before the `words`, `more` behind them; a place is one group, or a
    `path` and a `line`; a `test` may be part of a `suite`.
    """
    if found is None:
        return Diagnostic()
    said: dict[str, str] = {}
    for name, value in found.groupdict(default="").items():
        said[name.rstrip(_DIGITS)] = said.get(name.rstrip(_DIGITS)) or value.strip()
    words = " ".join(filter(None, map(said.get, ("code", "words", "more"))))
    return Diagnostic(
        ": ".join(filter(None, (said.get("kind"), words))),
        said.get("place") or ":".join(filter(None, map(said.get, ("path", "line")))),
        ".".join(filter(None, map(said.get, ("suite", "test", "never")))),
    )


class Format(NamedTuple):
    """How a tool prints what it found: a row of `bad` for each thing, and how it ends.

    `end` counts: `errors` and `warnings`, or tests (`passed`, or `every` one, `failed`, `errors`
    among them, `broken` beside them, `skipped`, `seconds` in a `unit`; or all in words, `counts`).
    A row that names what was `never` run counts as broken; without any of these, `lost` does.
    The counts of several ends are added up unless only the `last` is meant; without an end the tool
    did not speak. `total` counts more, and need not be there. What is not counted is the number of
    rows, each `once` where the tool repeats them.

    `first` finds what is quoted where that is not the first row, `place` its place behind it;
    `words` are quoted where the row has none. The last line that is `done` is a success in itself,
    of which `fine` is said, or its `fine` group; where that is missing, it is none. `stopped`
    is said of a tool that does not count, but gives up.
    """

    tool: str
    bad: re.Pattern[str]
    end: re.Pattern[str] | None = None
    total: re.Pattern[str] | None = None
    first: re.Pattern[str] | None = None
    place: re.Pattern[str] | None = None
    done: re.Pattern[str] | None = None
    fine: str = ""
    words: str = ""
    stopped: str | None = None
    once: bool = False
    last: bool = False

    def read(self, text: str) -> CommandResult | None:
        """Read an output that begins with `LINE_START`; None where the tool did not speak."""
        ends = list(self.end.finditer(text)) if self.end else []
        if self.end and not ends:
            return self._done(text)
        rows = list(self.bad.finditer(text))
        ends = ends[-1:] if self.last else ends
        ends += self.total.finditer(text) if self.total else ()
        if not (rows or ends):
            return self._done(text)
        if self.stopped is not None:
            return failed_result(self.tool, self.stopped, self.complaint(text, rows))
        if self.end and not _TESTS.isdisjoint(self.end.groupindex):
            return self._tested(text, rows, ends)
        return self._checked(text, rows, ends)

    def _done(self, text: str) -> CommandResult | None:
        done = last_match(self.done, text) if self.done else None
        said = done.groupdict().get("fine", self.fine) if done else ""
        return CommandResult(tool=self.tool, ok=True, said=self.fine or said) if said else None

    def _tested(
        self, text: str, rows: Sequence[re.Match[str]], ends: Sequence[re.Match[str]]
    ) -> CommandResult:
        counts = _counted(ends)
        failed, skipped = counts["failed"] + counts["errors"], counts["skipped"]
        times = [
            float(one["seconds"]) / (1000 if one.get("unit") == "ms" else 1)
            for one in map(re.Match.groupdict, ends)
            if one.get("seconds")
        ]
        never = {row.groupdict().get("never") for row in rows} - {None}
        tally = TestCounts(
            passed=max(counts["passed"] or counts["every"] - failed - skipped, 0),
            failed=failed + counts["broken"] + len(never) or counts["lost"],
            skipped=skipped,
            seconds=sum(times) if times else None,
        )
        names = [*dict.fromkeys(diagnostic(row).test for row in rows)][: tally.failed]
        return run_result(self.tool, tally, failing=names, first=self.complaint(text, rows))

    def _checked(
        self, text: str, rows: Sequence[re.Match[str]], ends: Sequence[re.Match[str]]
    ) -> CommandResult:
        counts = _counted(ends)
        errors = counts["errors"] - counts["mended"]
        is_counted = any("errors" in end.groupdict() for end in ends)
        if not is_counted:
            errors = len({row.groups() for row in rows} if self.once else rows)
        if not errors and (fine := ends[-1].groupdict().get("fine")):
            return CommandResult(tool=self.tool, ok=True, said=self.fine or fine)
        first = self.complaint(text, rows)
        return problem_result(
            self.tool, errors, warnings=counts["warnings"], first=first, is_counted=is_counted
        )

    def complaint(self, text: str, rows: Sequence[re.Match[str]] = ()) -> Diagnostic:
        """Return what is quoted of an output in which these rows are."""
        found = (self.first.search(text) if self.first else None) or next(iter(rows), None)
        if found is None:
            return Diagnostic()
        said = diagnostic(found)
        until = found.end() + _STACK_CHARS
        if rows:
            said = said._replace(test=said.test or diagnostic(rows[0]).test)
            until = min([until, *(row.start() for row in rows[1:2] if found is rows[0])])
        if self.place and not said.place:
            said = said._replace(
                place=diagnostic(self.place.search(text, found.end(), until)).place
            )
        return said._replace(words=said.words or self.words)


def _counted(ends: Sequence[re.Match[str]]) -> Counter[str]:
    found = Counter[str]()
    for end in ends:
        groups = {name: value for name, value in end.groupdict().items() if value}
        found.update(word_counts(groups.pop("counts", "")))
        for name, number in groups.items():
            if number.isdecimal() and name != "seconds":
                found[name.rstrip(_DIGITS)] += int(number)
    return found
