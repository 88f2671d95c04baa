"""What more tools say: playwright, mix, zig, pest, Pester, terraform.

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

_PLAYWRIGHT_COUNT = line_pattern(
    r"  (\d+) (passed|failed|flaky|skipped|did not run|interrupted)"
    r"(?: \((\d+(?:\.\d+)?)(m?s|m)\))?$"
)
_PLAYWRIGHT_WHOLE = re.compile(r"\n\s*\n  \d+ (?:flaky|skipped|did not run|passed)\b")
"""How the summary begins; failures stand first in it."""
_PLAYWRIGHT_BAD = line_pattern(
    r" +\d+\) (?:\[[^\]\n]+\] \u203a )?([^\s:]+:\d+):\d+ \u203a ([^\n]*?)[ ─]*$"
)
_PLAYWRIGHT_WORDS = line_pattern(r" {4}((?:\w*Error|Test timeout)\b[^\n]*)$")
_PLAYWRIGHT_PLACE = line_pattern(r" +at (?:[^\n(]*\()?([^\s()]+:\d+):\d+\)?$")
_SECTION_CHARS = 6000


def playwright(text: str) -> CommandResult | None:
    """Read the summary of playwright's test runner."""
    ends = _PLAYWRIGHT_COUNT.findall(text)
    bad = list(_PLAYWRIGHT_BAD.finditer(text))
    if not ends or not (bad or any(time for _, _, time, _ in ends)):
        return None
    counts = {word: int(number) for number, word, _, _ in ends}
    if not counts.keys() & {"failed", "interrupted"} and _PLAYWRIGHT_WHOLE.search(text) is None:
        return CommandResult(tool="playwright", said=str(TestCounts(counts.get("passed"), 0)))
    first = Diagnostic()
    if bad:
        section = text[bad[0].end() :][:_SECTION_CHARS].partition("\n\n  2) ")[0]
        words, place = _PLAYWRIGHT_WORDS.search(section), _PLAYWRIGHT_PLACE.search(section)
        first = Diagnostic(
            words.group(1) if words else "", place.group(1) if place else bad[0][1], bad[0][2]
        )
    return run_result(
        "playwright",
        TestCounts(
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0) + counts.get("interrupted", 0),
            skipped=counts.get("skipped", 0) + counts.get("did not run", 0),
        ),
        failing=[one.group(2) for one in bad],
        first=first,
    )


_MIX_END = line_pattern(
    r"(?:\d+ doctests?, )?(?:\d+ properties, )?(\d+) tests?, (\d+) failures?"
    r"(?:, (\d+) (?:skipped|excluded))?"
)
_MIX_BAD = line_pattern(
    r" +\d+\) (?:test|property|doctest) (\S[^\n]*) \([\w.]+\)\n +(\S+:\d+)\n +(\S[^\n]*)"
)
_MIX_BROKE = line_pattern(r"\*\* \((?:\w+\.)*(\w*Error|Mix)\) (?:([^\s:]+:\d+): )?([^\n]+)$")
_MIX_ERROR = line_pattern(r" *error: ([^\n]+)(?:\n[^\n]*){1,12}?\n *└─ ([^\s:]+:\d+)")


def mix(text: str) -> CommandResult | None:
    """Read Elixir's tests, else what kept its project from being built or called right."""
    end = last_match(_MIX_END, text)
    if end is None:
        broke, error = _MIX_BROKE.search(text), _MIX_ERROR.search(text)
        if error:
            return failed_result("mix", "the build stopped", Diagnostic(*error.groups()))
        if broke is None:
            return None
        kind, place, words = broke.groups()
        said = words if kind == "Mix" else f"{kind}: {words}"
        return failed_result("mix", "mix stopped", Diagnostic(said, place or ""))
    every, failed, skipped = (int(number or 0) for number in end.groups())
    bad = _MIX_BAD.findall(text)
    first = Diagnostic(bad[0][2], bad[0][1], bad[0][0]) if bad else Diagnostic()
    tally = TestCounts(passed=max(every - failed - skipped, 0), failed=failed, skipped=skipped)
    return run_result("mix test", tally, failing=[name for name, _, _ in bad], first=first)


_ZIG_END = line_pattern(r"(?:All (\d+) tests passed\.|(\d+) passed; (\d+) skipped; (\d+) failed\.)")
_ZIG_BAD = line_pattern(r"(?:\d+/\d+ )?(\S[^\n]*?)\.{3} ?FAIL \((\w+)\)$")


def zig(text: str) -> CommandResult | None:
    """Read the summary of zig's test runner."""
    end = last_match(_ZIG_END, text)
    if end is None:
        return None
    every, passed, skipped, failed = (int(number or 0) for number in end.groups())
    bad = _ZIG_BAD.findall(text)
    first = Diagnostic(bad[0][1], test=bad[0][0]) if bad else Diagnostic()
    tally = TestCounts(passed=every or passed, failed=failed, skipped=skipped)
    return run_result("zig test", tally, failing=[name for name, _ in bad], first=first)


_PEST_END = line_pattern(
    r" +Tests: +((?:\d+ (?:failed|passed|skipped|risky|todos?|warnings?|incomplete|deprecated)"
    r",? ?)+)"
    r"\(\d+ assertions\)"
)
_PEST_BAD = line_pattern(r" +FAILED +(\S[^\n]*?)(?:  +\w+)?\n+ +(\S[^\n]*)$")
_PEST_PLACE = line_pattern(r" +at (\S+?:\d+)$")
_COUNT = re.compile(r"(\d+) (\w+)")


def pest(text: str) -> CommandResult | None:
    """Read the summary of pest, and of Laravel's test command."""
    end = last_match(_PEST_END, text)
    if end is None:
        return None
    counts = {word: int(number) for number, word in _COUNT.findall(end.group(1))}
    bad = list(_PEST_BAD.finditer(text))
    first = Diagnostic()
    if bad:
        place = _PEST_PLACE.search(text, bad[0].end())
        first = Diagnostic(bad[0].group(2), place.group(1) if place else "", bad[0].group(1))
    tally = TestCounts(
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        skipped=counts.get("skipped", 0),
    )
    return run_result("pest", tally, failing=[one.group(1) for one in bad], first=first)


_PESTER_END = line_pattern(r"Tests Passed: (\d+), Failed: (\d+), Skipped: (\d+)")
_PESTER_TIME = line_pattern(r"Tests completed in (\d+(?:\.\d+)?)(m?s)$")
_PESTER_BAD = line_pattern(
    r" *\[-\] (\S[^\n]*?)(?: failed with:| \d+(?:\.\d+)?m?s(?: \([^\n]*\))?)\n+ *(\S[^\n]*)$"
)
_PESTER_PLACE = line_pattern(r" *at [^\n]*?, ([^\n,]+\.ps1:\d+)$")
_PESTER_BROKEN = line_pattern(r"Container failed: (\d+)$")


def pester(text: str) -> CommandResult | None:
    """Read the summary of PowerShell's tests; a file that could not be read is a failure."""
    end, time, broken = (
        last_match(one, text) for one in (_PESTER_END, _PESTER_TIME, _PESTER_BROKEN)
    )
    if end is None:
        return None
    passed, failed, skipped = map(int, end.groups())
    seconds = float(time[1]) / (1000 if time[2] == "ms" else 1) if time else None
    bad = list(_PESTER_BAD.finditer(text))
    first = Diagnostic()
    if bad:
        place = _PESTER_PLACE.search(text[bad[0].end() :][:_SECTION_CHARS])
        first = Diagnostic(bad[0][2], place[1] if place else "", bad[0][1])
    return run_result(
        "pester",
        TestCounts(passed, failed + int(broken[1] if broken else 0), skipped, seconds),
        failing=[one[1] for one in bad],
        first=first,
    )


_TERRAFORM_DONE = line_pattern(
    r"(Success! The configuration is valid[^\n]*|No changes\.[^\n]*|Plan: \d+ to add, [^\n]+"
    r"|Apply complete![^\n]*|Terraform has been successfully initialized!|Destroy complete![^\n]*)$"
)
_TERRAFORM_ERROR = line_pattern(r"[│ ]*Error: ([^\n]+)$")
_TERRAFORM_PLACE = line_pattern(r"[│ ]*on (\S+) line (\d+)")


def terraform(text: str) -> CommandResult | None:
    """Read the errors of Terraform and OpenTofu, or what they came to."""
    errors = list(_TERRAFORM_ERROR.finditer(text))
    if errors:
        place = _TERRAFORM_PLACE.search(text, errors[0].end())
        first = Diagnostic(errors[0].group(1), ":".join(place.groups()) if place else "")
        return problem_result("terraform", len(errors), first=first)
    done = last_match(_TERRAFORM_DONE, text)
    return CommandResult(tool="terraform", ok=True, said=done.group(1)) if done else None


PARSERS = (
    OutputParser(playwright, ("playwright",), (" \u203a ", " passed (")),
    OutputParser(mix, ("mix",), (" tests, ", " test, ", "** (")),
    OutputParser(pester, ("pester", "Invoke-Pester", "invoke-pester"), ("Tests Passed: ",)),
    OutputParser(zig, ("zig",), (" tests passed.", " skipped; ")),
    OutputParser(pest, ("pest", "artisan"), (" assertions)",)),
    OutputParser(terraform, ("terraform", "tofu"), ()),
)
