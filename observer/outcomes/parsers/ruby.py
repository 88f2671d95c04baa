"""What Ruby's tools say: rspec, minitest, and an error that nobody rescued.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    line_pattern,
    run_result,
    sum_columns,
    total_seconds,
)

_END = line_pattern(
    r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred[^\n]*)?$"
)
_TIME = line_pattern(r"Finished in (\d+(?:\.\d+)?)(?: seconds|s\b)")
_BAD = line_pattern(r"rspec [^\s#]+(?::\d+|\[[^\]\n]*\]) # ([^\n]+)$")
_FAILURE = line_pattern(r" *Failure/Error:[^\n]*\n(?:\s*\n)?\s*(\S[^\n]*)\n *([^\s#][^\n]*)?")
_PLACE = line_pattern(r" *# ([^\s:]+:\d+)")


def rspec(text: str) -> CommandResult | None:
    """Read rspec's summaries; a file that could not be loaded counts as a failure."""
    ends = _END.findall(text)
    if not ends:
        cut = _BAD.findall(text)
        first = Diagnostic(test=cut[0]) if cut else Diagnostic()
        return failed_result("rspec", "tests failed", first) if cut else None
    every, failures, pending, broken = sum_columns(ends)
    names = _BAD.findall(text) if failures else []
    failure = _FAILURE.search(text)
    first = Diagnostic(test="".join(names[:1]))
    if failure:
        place = _PLACE.search(text, failure.end())
        words = " ".join(part.strip() for part in failure.groups() if part)
        first = first._replace(words=words, place=place.group(1) if place else "")
    return run_result(
        "rspec",
        TestCounts(
            passed=every - failures - pending,
            failed=failures + broken,
            skipped=pending,
            seconds=total_seconds(map(float, _TIME.findall(text))),
        ),
        failing=names,
        first=first,
    )


_MINI_END = line_pattern(
    r"(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?"
)
_MINI_BAD = line_pattern(
    r"(?: +\d+\) )?(?:Failure|Error):\n(\S+?)(?: \[([^\]\n]+:\d+)\])?:"
    r"\n(\S[^\n]*)(?:\n +(\S[^\n]*))?"
)
_MINI_FRAME = line_pattern(r" +(\S+:\d+):in ")


def minitest(text: str) -> CommandResult | None:
    """Read the summaries of minitest (and of Rails' runner)."""
    ends = _MINI_END.findall(text)
    if not ends:
        return None
    every, failures, errors, skips = sum_columns(ends)
    bad = list(_MINI_BAD.finditer(text)) if failures + errors else []
    return run_result(
        "minitest",
        TestCounts(
            passed=every - failures - errors - skips,
            failed=failures + errors,
            skipped=skips,
            seconds=total_seconds(map(float, _TIME.findall(text))),
        ),
        failing=[one.group(1) for one in bad],
        first=_mini_first(text, *bad[0].groups()) if bad else Diagnostic(),
    )


def _mini_first(
    text: str, name: str, place: str | None, words: str, more: str | None
) -> Diagnostic:
    frame = None if place else _MINI_FRAME.search(text, text.find(words))
    said = f"{words} {more}" if place and more else words
    return Diagnostic(said, place or (frame.group(1) if frame else ""), name)


_RAISED = line_pattern(r"(\S+:\d+):in [`'][^\n]*': ([^\n]+) \(([A-Z][\w:]*)\)$")
_SYNTAX = line_pattern(r"(\S+\.rb:\d+): (syntax error[^\n]*)$")


def raised(text: str) -> CommandResult | None:
    """Read an error that ended a program, or that kept it from being parsed."""
    if found := _RAISED.search(text):
        place, words, kind = found.groups()
        first = Diagnostic(f"{kind}: {words}", "" if place.startswith("<") else place)
    elif syntax := _SYNTAX.search(text):
        first = Diagnostic(syntax.group(2), syntax.group(1))
    else:
        return None
    return failed_result("ruby", "an error was raised", first)


PARSERS = (
    OutputParser(rspec, ("rspec",), (" examples, ", " example, ", "\nrspec ./")),
    OutputParser(minitest, (), (" assertions, ",)),
    OutputParser(raised, ("ruby",), (":in `", ":in '", "syntax error"), is_raised=True),
)
