"""What .NET's tools say: its tests, the C# compiler through MSBuild or Mono, and an exception.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    problem_result,
    run_result,
)

_END = line_pattern(
    r"(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total: +\d+"
    r"(?:, Duration: (?:< )?(\d+(?:\.\d+)?) (m?s))?"
)
_BAD = line_pattern(r" +Failed (\S[^\n]*?) \[[^\]\n]*\]\n(?: +Error Message:\n\s*(\S[^\n]*))?")
_PLACE = re.compile(r" in ([^\n]*?):(?:line )?(\d+)\s")
_STACK_CHARS = 6000


def dotnet_test(text: str) -> CommandResult | None:
    """Read `dotnet test`: the sum over its test projects."""
    ends = _END.findall(text)
    if not ends:
        return None
    bad = list(_BAD.finditer(text))
    first = Diagnostic()
    if bad:
        first = Diagnostic(bad[0].group(2) or "", _place(text, bad[0].end()), bad[0].group(1))
    return run_result(
        "dotnet test",
        TestCounts(
            passed=sum(int(end[1]) for end in ends),
            failed=sum(int(end[0]) for end in ends),
            skipped=sum(int(end[2]) for end in ends),
            seconds=sum(float(end[3] or 0) / (1000 if end[4] == "ms" else 1) for end in ends)
            or None,
        ),
        failing=[one.group(1) for one in bad],
        first=first,
    )


_SUMMED = line_pattern(
    r"Test summary: total: (\d+), failed: (\d+), succeeded: (\d+), skipped: (\d+)"
)
_NEW_BAD = line_pattern(
    r" *(?:(\S+?)\((\d+)\): )?error TESTERROR:\s*\n? *([^\n(]+?) \([^)\n]*\):"
    r" Error Message: ([^\n]+)$"
)
_BUILD_END = line_pattern(r"Build (?:(succeeded)|FAILED|failed)\b[^\n]*$")


def terminal_logger(text: str) -> CommandResult | None:
    """Read what newer versions print in a terminal: a summary of tests, else of the build."""
    end, build = last_match(_SUMMED, text), last_match(_BUILD_END, text)
    if end:
        _, failed, passed, skipped = map(int, end.groups())
        bad = _NEW_BAD.search(text)
        first = Diagnostic()
        if bad:
            place = f"{bad[1]}:{bad[2]}" if bad[1] else ""
            first = Diagnostic(bad[4], place, bad[3].strip())
        tally = TestCounts(passed=passed, failed=failed, skipped=skipped)
        return run_result("dotnet test", tally, failing=[first.test] if bad else (), first=first)
    if build is None:
        return None
    if build.group(1):
        return CommandResult(tool="dotnet", ok=True, said="built")
    return csc(text) or failed_result("dotnet", "the build stopped", Diagnostic())


_ERROR = line_pattern(
    r" *([^\s(][^\n(]*)\((\d+),\d+\): error ([A-Z]+\d+): ([^\n]*?)(?: \[[^\n]*)?$"
)
_ERRORS = line_pattern(r" +(\d+) Error\(s\)")
_WARNINGS = line_pattern(r" +(\d+) Warning\(s\)")


def csc(text: str) -> CommandResult | None:
    """Read the errors of the C# compiler; MSBuild repeats them at its end."""
    errors, count = dict.fromkeys(_ERROR.findall(text)), _ERRORS.search(text)
    if not errors and count is None:
        return None
    first = Diagnostic()
    if errors:
        path, line, code, words = next(iter(errors))
        first = Diagnostic(f"{code}: {words}", f"{path}:{line}")
    warnings = _WARNINGS.search(text)
    return problem_result(
        "dotnet",
        int(count.group(1)) if count else len(errors),
        warnings=int(warnings.group(1)) if warnings else 0,
        first=first,
    )


_THROWN = re.compile(r"Unhandled [Ee]xception[.:]\s+([A-Z][\w.+`]*: [^\n]+)")


def thrown(text: str) -> CommandResult | None:
    """Read an exception that nobody caught."""
    found = _THROWN.search(text)
    if found is None:
        return None
    first = Diagnostic(found.group(1), _place(text, found.end()))
    return failed_result("dotnet", "an error was raised", first)


def _place(text: str, start: int) -> str:
    """Return the first place in the stack that follows for which there are symbols."""
    for path, line in _PLACE.findall(text[start : start + _STACK_CHARS]):
        if not path.startswith("<"):
            return f"{path}:{line}"
    return ""


PARSERS = (
    OutputParser(dotnet_test, ("dotnet",), ("Passed!  -", "Failed!  -")),
    OutputParser(csc, ("dotnet", "msbuild", "csc", "mcs"), (": error CS", "Error(s)")),
    OutputParser(terminal_logger, ("dotnet",), ("Test summary: ", "Build succeeded")),
    OutputParser(
        thrown, ("dotnet",), ("Unhandled exception", "Unhandled Exception"), is_raised=True
    ),
)
