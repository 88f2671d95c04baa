"""What the test runners of JavaScript's other runtimes say: bun and deno.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    run_result,
    sum_columns,
)

_BUN_COUNT = line_pattern(r" *(\d{1,9}) (pass|fail|skip|todo|error)s?$")
_BUN_RAN = line_pattern(r" *Ran (\d{1,9}) tests? across \d+ files?\.")
_BUN_BAD = line_pattern(r" *(?:\(fail\)|✗) (\S[^\n]*?)(?: \[[^\]\n]*\])?$")
_BUN_OTHER = line_pattern(r" *(?:\((?:pass|skip|todo)\)|✓|») \S[^\n]*$|\S+[._](?:test|spec)\.\w+:$")
_BUN_ERROR = line_pattern(r"((?:\w*Error|error|Failure): [^\n]+)$")
_UNHANDLED = "# Unhandled error between tests"
_BLOCK_END = "\n---------------"
_SECTION_CHARS = 20_000
_DENO_END = line_pattern(
    r"(?:ok|FAILED) \| (\d{1,9}) passed[^|\n]*\| (\d{1,9}) failed(?: \| (\d{1,9}) ignored)?"
)
_DENO_BAD = line_pattern(r"(\S[^\n]*?) => (\S+:\d+):\d+\nerror: ([^\n]+)$")
_PLACE = re.compile(r"\n +at [^\n]*?([^\s()]+:\d+):\d+\)?$", re.MULTILINE)


def bun(text: str) -> CommandResult | None:
    """Read the summaries of bun's test runner; what it does not count may have been cut off."""
    found = _BUN_COUNT.findall(text)
    counts = {word: 0 for _, word in found}
    for number, word in found:
        counts[word] += int(number)
    bad = list(_BUN_BAD.finditer(text))
    if not counts.keys() & {"pass", "fail"} and not bad:
        stop = _bun_first(text, bad) if _UNHANDLED in text else None
        return failed_result("bun", "tests failed", stop) if stop else None
    ran = sum(int(number) for number in _BUN_RAN.findall(text))
    failed = counts.get("fail", 0) or counts.get("error", 0) or len(bad)
    passed = counts.get("pass", ran - failed if ran and "fail" in counts else None)
    first = _bun_first(text, bad) if failed else Diagnostic()
    tally = TestCounts(passed=passed, failed=failed, skipped=counts.get("skip", 0))
    result = run_result("bun", tally, failing=[one.group(1) for one in bad], first=first)
    return result if failed or "fail" in counts else replace(result, ok=None)


def _bun_first(text: str, bad: list[re.Match[str]]) -> Diagnostic:
    """Return the first failure: bun prints what a test threw last above its line."""
    unhandled = text.find(_UNHANDLED)
    if unhandled >= 0 and (not bad or unhandled < bad[0].start()):
        section = text[unhandled:].partition(_BLOCK_END)[2].partition(_BLOCK_END)[0]
        error = _BUN_ERROR.search(section)
        return _bun_complaint(section, error) if error else Diagnostic()
    if not bad:
        return Diagnostic()
    start = max(0, bad[0].start() - _SECTION_CHARS)
    before = last_match(_BUN_OTHER, text[start : bad[0].start()])
    section = text[start + before.end() if before else start : bad[0].start() + 1]
    error, place = last_match(_BUN_ERROR, section), last_match(_PLACE, section)
    first = _bun_complaint(section, error) if error else Diagnostic(place=place[1] if place else "")
    return first._replace(test=bad[0].group(1))


def _bun_complaint(section: str, error: re.Match[str]) -> Diagnostic:
    place = _PLACE.search(section, error.end() - 1)
    words = error.group(1).removeprefix("error: ")
    return Diagnostic(words, place[1] if place else "")


def deno(text: str) -> CommandResult | None:
    """Read the summaries of deno's test runner."""
    ends = _DENO_END.findall(text)
    if not ends:
        return None
    passed, failed, skipped = sum_columns(ends)
    bad = _DENO_BAD.findall(text)
    first = Diagnostic(bad[0][2], bad[0][1], bad[0][0]) if bad else Diagnostic()
    tally = TestCounts(passed=passed, failed=failed, skipped=skipped)
    return run_result("deno", tally, failing=[name for name, _, _ in bad], first=first)


PARSERS = (
    OutputParser(bun, ("bun",), (" expect() calls", " tests across ", "\n(fail) ", _UNHANDLED)),
    OutputParser(deno, ("deno",), (" passed | ",)),
)
