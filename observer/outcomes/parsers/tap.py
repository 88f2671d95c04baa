"""What runners say that speak TAP (perl's, bats, vitest on demand), perl's prove, and ava.

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
    line_pattern,
    run_result,
    word_counts,
)

_PLAN = line_pattern(r"1\.\.\d+\b")
_ROW = line_pattern(r"(not )?ok \d+ ?(?:- )?([^\n#]*)(# (?i:todo|skip))?")
_WHERE = line_pattern(
    r"(?:# +(?:at|in test file) |# \((?:in test file )?)(\S+?),? line (\d+)"
    r"|# +Failed test at (\S+) line (\d+)"
)
_PROVE_END = line_pattern(r"Files=\d+, Tests=(\d+), +(\d+) wallclock[^\n]*\nResult: (\w+)$")
_PROVE_BAD = line_pattern(r"(\S+) +\(Wstat: [^\n]* Failed: (\d+)\)$")
_FAILED_TEST = line_pattern(r"# +Failed test '([^\n]*)'$")
_AVA_COUNT = line_pattern(r" +(\d+ (?:tests? )?(?:passed|failed|skipped))$")
_AVA_BAD = line_pattern(r" +✘ \[fail\]: ([^\n]+?)(?: Error thrown in test)?$")
_AVA_SECTION = "\n  {name}\n\n"
_AVA_PLACE = re.compile(r" *([^\s:]+:\d+)$", re.MULTILINE)
_AVA_ERROR = line_pattern(r" +(\w*Error: [^\n]+)$")


def tap(text: str) -> CommandResult | None:
    """Read the lines of TAP's outer level, for which there is a plan."""
    rows = _ROW.findall(text) if _PLAN.search(text) else []
    if not rows:
        return None
    bad = [name.strip() for no, name, aside in rows if no and not aside]
    skipped = sum(1 for _, _, aside in rows if aside)
    return run_result(
        "tap",
        TestCounts(passed=len(rows) - len(bad) - skipped, failed=len(bad), skipped=skipped),
        failing=bad,
        first=Diagnostic(place=_place(text), test=bad[0]) if bad else Diagnostic(),
    )


def _place(text: str) -> str:
    found = _WHERE.search(text)
    return ":".join(filter(None, found.groups())).rstrip(".") if found else ""


def prove(text: str) -> CommandResult | None:
    """Read the summary of perl's prove, which names the files that failed."""
    end = _PROVE_END.search(text)
    if end is None:
        return None
    bad = _PROVE_BAD.findall(text)
    failed = max(sum(int(number) for _, number in bad), end.group(3) != "PASS")
    name = _FAILED_TEST.search(text)
    first = Diagnostic(name.group(1) if name else "", _place(text), bad[0][0] if bad else "")
    return run_result(
        "prove",
        TestCounts(
            passed=max(int(end.group(1)) - failed, 0),
            failed=failed,
            seconds=float(end.group(2)) or None,
        ),
        failing=[file for file, _ in bad],
        first=first,
    )


def ava(text: str) -> CommandResult | None:
    """Read ava's own report."""
    counts = word_counts(
        ", ".join(_AVA_COUNT.findall(text)).replace("tests ", "").replace("test ", "")
    )
    bad = _AVA_BAD.findall(text)
    if not counts:
        return None
    first = Diagnostic()
    if bad:
        section = text.partition(_AVA_SECTION.format(name=bad[0]))[2].partition("\n\n\n")[0]
        place, error = _AVA_PLACE.match(section), _AVA_ERROR.search(section)
        words = error.group(1) if error else ""
        first = Diagnostic(words, place.group(1) if place else "", bad[0])
    return run_result(
        "ava",
        TestCounts(
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0),
            skipped=counts.get("skipped", 0),
        ),
        failing=bad,
        first=first,
    )


PARSERS = (
    OutputParser(ava, ("ava",), ("✘ [fail]: ",)),
    OutputParser(prove, ("prove",), ("\nResult: ",)),
    OutputParser(tap, ("bats", "perl"), ("\nnot ok ", "\nok 1")),
)
