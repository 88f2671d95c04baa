"""What the test runners of JavaScript's other runtimes say: bun and deno.

Part of interpretation (step 6). One reader a tool: text without colours in, `Verdict` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.interpret.readers.reader import Reader
from observer.interpret.verdict import Complaint, Tally, Verdict, line_pattern, ran_tests, summed

_BUN_COUNT = line_pattern(r" *(\d{1,9}) (pass|fail|skip)$")
_BUN_BAD = line_pattern(r"(?:\(fail\)|✗) (\S[^\n]*?)(?: \[[^\]\n]*\])?$")
_DENO_END = line_pattern(
    r"(?:ok|FAILED) \| (\d{1,9}) passed[^|\n]*\| (\d{1,9}) failed(?: \| (\d{1,9}) ignored)?"
)
_DENO_BAD = line_pattern(r"(\S[^\n]*?) => (\S+:\d+):\d+\nerror: ([^\n]+)$")
_ERROR = line_pattern(r"error: ([^\n]+)$")
_PLACE = re.compile(r"\n +at [^\n]*?([^\s()]+:\d+):\d+\)?$", re.MULTILINE)


def bun(text: str) -> Verdict | None:
    """Read the summaries of bun's test runner."""
    counts = {"pass": 0, "fail": 0, "skip": 0}
    found = _BUN_COUNT.findall(text)
    for number, word in found:
        counts[word] += int(number)
    if not found:
        return None
    names = _BUN_BAD.findall(text)
    error, place = _ERROR.search(text), _PLACE.search(text)
    first = Complaint(error[1] if error else "", place[1] if place else "", "".join(names[:1]))
    tally = Tally(passed=counts["pass"], failed=counts["fail"], skipped=counts["skip"])
    return ran_tests("bun", tally, failing=names, first=first)


def deno(text: str) -> Verdict | None:
    """Read the summaries of deno's test runner."""
    ends = _DENO_END.findall(text)
    if not ends:
        return None
    passed, failed, skipped = summed(ends)
    bad = _DENO_BAD.findall(text)
    first = Complaint(bad[0][2], bad[0][1], bad[0][0]) if bad else Complaint()
    tally = Tally(passed=passed, failed=failed, skipped=skipped)
    return ran_tests("deno", tally, failing=[name for name, _, _ in bad], first=first)


READERS = (
    Reader(bun, ("bun",), (" expect() calls", " tests across ")),
    Reader(deno, ("deno",), (" passed | ",)),
)
