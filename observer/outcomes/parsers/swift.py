"""What Swift's tools say: its tests in both libraries, its builds, and Xcode's.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.outcomes.parsers.native import cc
from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    run_result,
)

_END = line_pattern(r"\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?")
_NEW_END = line_pattern(r"[✘✔􀢄􁁛] +Test run with (\d+) tests? [^\n]*?(passed|failed) after")
_BAD = line_pattern(r"(\S[^\n:]*:\d+): error: (-?\[?[\w. ]+\]?) : ([^\n]+)$")
_NEW_BAD = line_pattern(r"[✘􀢄] +Test (\S[^\n]*?) recorded an issue at (\S+?:\d+):\d+: ([^\n]+)$")
_ON_MAC = re.compile(r"-\[(?:\w+\.)?(\w+) (\w+)\]")
"""How Apple's library names a test; elsewhere it is `CartTests.testTotal`."""
_LISTED = line_pattern(r"Failing tests:\n((?:\t[^\n]+(?:\n|\Z))+)")
_DONE = line_pattern(r"(Build complete!|\*\* BUILD SUCCEEDED \*\*)")
_BROKE = line_pattern(r"(\*\* BUILD FAILED \*\*|error: fatalError)")
_TESTED = line_pattern(r"\*\* TEST (SUCCEEDED|FAILED) \*\*")


def swift(text: str) -> CommandResult | None:
    """Read the tests of Swift, of both libraries, else how Xcode ended them or the build."""
    old, new = last_match(_END, text), last_match(_NEW_END, text)
    if old is None and new is None:
        return _xcode_tests(text) or _build(text)
    issues = [(place, name, words) for name, place, words in _NEW_BAD.findall(text)]
    found = [(place, _named(name), words) for place, name, words in _BAD.findall(text)] + issues
    every = sum(int(end.group(1)) for end in (old, new) if end)
    skipped = int(old.group(2) or 0) if old else 0
    failed = int(old.group(3)) if old else 0
    failed += len({name for _, name, _ in issues}) or int(new is not None and new[2] == "failed")
    first = Diagnostic(found[0][2], found[0][0], found[0][1]) if found else Diagnostic()
    tally = TestCounts(passed=max(every - failed - skipped, 0), failed=failed, skipped=skipped)
    return run_result("swift test", tally, failing=[name for _, name, _ in found], first=first)


def _named(test: str) -> str:
    found = _ON_MAC.fullmatch(test)
    return f"{found[1]}.{found[2]}" if found else test


def _xcode_tests(text: str) -> CommandResult | None:
    """Read how Xcode ended its tests where it did not count them, unless the build broke."""
    tested, listed = last_match(_TESTED, text), _LISTED.search(text)
    if tested is None or (listed is None and cc(text)):
        return None
    if tested.group(1) == "SUCCEEDED":
        return CommandResult(tool="swift test", ok=True, said="tests passed")
    if listed is None:
        return failed_result("swift test", "tests failed", Diagnostic("** TEST FAILED **"))
    names = [name.strip().removesuffix("()") for name in listed.group(1).strip().split("\n")]
    tally = TestCounts(passed=None, failed=len(names))
    return run_result("swift test", tally, failing=names, first=Diagnostic(test=names[0]))


def _build(text: str) -> CommandResult | None:
    """Read how a build ended, with its first error where it is known."""
    errors, broke, done = cc(text), _BROKE.search(text), _DONE.search(text)
    if errors and (broke or not done):
        return replace(errors, tool="swift")
    if broke:
        return failed_result("swift", "the build stopped", Diagnostic(broke.group(1)))
    return CommandResult(tool="swift", ok=True, said="built") if done else None


PARSERS = (
    OutputParser(
        swift, ("swift", "xcodebuild"), ("Executed ", "Test run with ", "** TEST ", "** BUILD ")
    ),
)
