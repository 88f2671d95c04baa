"""What PHP's tools say: phpunit, and a fatal error.

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
    line_pattern,
    run_result,
    total_seconds,
)

_END = line_pattern(r"(?:OK \((\d+) tests?,|Tests: (\d+), Assertions: \d+([^\n]*)\.$)")
_COUNT = re.compile(r"(\w+): (\d+)")
_TIME = line_pattern(r"Time: (?:(\d+):)?(\d+):(\d+\.\d+)")
_BAD = line_pattern(r"\d+\) (\w[^\n]*)\n(\S[^\n]*)")
_OTHER = line_pattern(r"There (?:was|were) \d+ (?![^\n]*(?:error|failure))[^\n]*:$")
_SECTION = "\nThere w"
_TESTDOX = line_pattern(r" [✘∅] ([^\n]+)\n\s*│\s*\n +│ (\S[^\n]*)")
_PLACE = line_pattern(r"[ │]*([^\s:]+\.php:\d+)$")


def phpunit(text: str) -> CommandResult | None:
    """Read phpunit's summaries, of its dots or as a list of what it tests."""
    ends = _END.findall(text)
    if not ends:
        return None
    counts = _COUNT.findall(" ".join(said for _, _, said in ends))
    failed, skipped = (
        sum(int(number) for word, number in counts if word in words)
        for words in (("Failures", "Errors"), ("Skipped", "Incomplete"))
    )
    bad = (_failing(text) or list(_TESTDOX.finditer(text))) if failed else []
    first = Diagnostic()
    if bad:
        place = _PLACE.search(text, bad[0].end())
        first = Diagnostic(bad[0].group(2), place.group(1) if place else "", bad[0].group(1))
    return run_result(
        "phpunit",
        TestCounts(
            passed=sum(int(fine or every) for fine, every, _ in ends) - failed - skipped,
            failed=failed,
            skipped=skipped,
            seconds=_seconds(text),
        ),
        failing=[one.group(1) for one in bad],
        first=first,
    )


def _failing(text: str) -> list[re.Match[str]]:
    """Find what failed among what is listed: risky, incomplete and skipped tests are, too."""
    return [
        one
        for one in _BAD.finditer(text)
        if not _OTHER.match(text, max(text.rfind(_SECTION, 0, one.start()), 0))
    ]


def _seconds(text: str) -> float | None:
    return total_seconds(
        int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
        for hours, minutes, seconds in _TIME.findall(text)
    )


_FATAL = line_pattern(
    r"(?:PHP )?(Fatal|Parse) error: +(?:Uncaught )?([^\n]+?) in (\S+?)(?: on line |:)(\d+)$"
)


def fatal(text: str) -> CommandResult | None:
    """Read an error that ended a script, or that kept it from being parsed."""
    found = _FATAL.search(text)
    if found is None:
        return None
    kind, words, path, line = found.groups()
    said = f"Parse error: {words}" if kind == "Parse" else words
    return failed_result("php", "an error was raised", Diagnostic(said, f"{path}:{line}"))


PARSERS = (
    OutputParser(phpunit, ("phpunit",), ("OK (", "Assertions: ")),
    OutputParser(fatal, ("php",), ("Fatal error: ", "Parse error: "), is_raised=True),
)
