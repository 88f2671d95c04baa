"""What test runners say: counts, the names of failing tests, the first failure.

Part of interpretation (step 6). One reader a runner: text without colours in, `Verdict` out, or
None when the runner's own summary is not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from observer.interpret.verdict import FAILING, Verdict, line_pattern, result_said
from observer.interpret.wording import distinct, one_line

_PYTEST_END = line_pattern(r"=*+ ?((?:\d+ [a-z]+(?:, )?){1,9}|no tests ran) in (\d+(?:\.\d+)?)s\b")
_PYTEST_BAD = line_pattern(r"(?:FAILED|ERROR) (\S+)(?: - ([^\n]*))?$")
_PYTEST_WHY = line_pattern(r"E +(\S[^\n]*)$")
_PYTEST_HEADING = line_pattern(r"_{3,}+ (\S[^\n]*) _{3,}+$")
_SUMMARY_CHARS = 4000
_COUNT = re.compile(r"(\d+) ([a-z]+)")


def pytest(text: str) -> Verdict | None:
    """Read pytest's summary, with or without `-q`."""
    end = _last(_PYTEST_END, text[-_SUMMARY_CHARS:])
    if end is None:
        return None
    counts = {word.rstrip("s"): int(number) for number, word in _COUNT.findall(end.group(1))}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    bad = _PYTEST_BAD.findall(text) if failed else []
    names = [name for name, _ in bad] or (_PYTEST_HEADING.findall(text) if failed else [])
    first = " - ".join(part for part in bad[0] if part) if bad else ""
    if failed and " - " not in first and (why := _PYTEST_WHY.search(text)):
        first = f"{first or ''.join(names[:1])} - {why.group(1)}".removeprefix(" - ")
    said = result_said(
        passed=counts.get("passed", 0),
        failed=failed,
        skipped=counts.get("skipped", 0),
        seconds=end.group(2),
    )
    return _verdict("pytest", counts.get("passed", 0), failed, said=said, names=names, first=first)


_UNITTEST_RAN = line_pattern(r"Ran (\d+) tests? in (\d+\.\d+)s$")
_UNITTEST_END = line_pattern(r"(?:OK|FAILED)(?: \(([^)\n]*)\))?$")
_UNITTEST_BAD = line_pattern(r"(?:FAIL|ERROR): (\S+)(?: \(([\w.]+)\))?")
_UNITTEST_WHY = line_pattern(
    r"([\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Failure)\b(?::[^\n]*)?)$"
)
_ASSIGNED = re.compile(r"([a-z ]+)=(\d+)")


def unittest(text: str) -> Verdict | None:
    """Read the summary of Python's unittest (and of Django's runner)."""
    ran, end = _last(_UNITTEST_RAN, text), _last(_UNITTEST_END, text)
    if ran is None or end is None:
        return None
    counts = {word.strip(): int(number) for word, number in _ASSIGNED.findall(end.group(1) or "")}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    passed = max(int(ran.group(1)) - failed - skipped, 0)
    names = [
        where if where.endswith(name) else f"{where}.{name}".strip(".")
        for name, where in _UNITTEST_BAD.findall(text)
    ]
    why = _UNITTEST_WHY.search(text) if failed else None
    said = result_said(passed=passed, failed=failed, skipped=skipped, seconds=ran.group(2))
    first = " - ".join([*names[:1], *([why.group(1)] if why else [])])
    return _verdict("unittest", passed, failed, said=said, names=names, first=first)


_JEST_END = line_pattern(r"Tests: +(\d[^\n]*\d total)$")
_JEST_TIME = line_pattern(r"Time: +(\d+(?:\.\d+)?) ?(m?s)")
_JEST_BAD = line_pattern(r" +● (?!Console)(\S[^\n]*)\n\s*(\S[^\n]*)?")
_JEST_SUITE = line_pattern(r"FAIL +(\S+)")


def jest(text: str) -> Verdict | None:
    """Read jest's summary."""
    end = _last(_JEST_END, text)
    if end is None:
        return None
    counts = _counts(end.group(1))
    bad = _JEST_BAD.findall(text)
    suite = _JEST_SUITE.search(text)
    first = " - ".join(part for part in bad[0] if part) if bad else ""
    if suite:
        first = f"{suite.group(1)}: {first}" if first else suite.group(1)
    time = _JEST_TIME.search(text)
    return _counted("jest", counts, names=[name for name, _ in bad], first=first, time=time)


_VITEST_END = line_pattern(r" *Tests +(\d[^\n]*\(\d+\))")
_VITEST_TIME = line_pattern(r" *Duration +(\d+(?:\.\d+)?)(m?s)")
_VITEST_BAD = line_pattern(r" *FAIL +(\S[^\n]*)\n(\S[^\n]*)?")


def vitest(text: str) -> Verdict | None:
    """Read vitest's summary."""
    end = _last(_VITEST_END, text)
    if end is None:
        return None
    bad = _VITEST_BAD.findall(text)
    first = " - ".join(part for part in bad[0] if part) if bad else ""
    names = [name for name, _ in bad]
    time = _VITEST_TIME.search(text)
    return _counted("vitest", _counts(end.group(1)), names=names, first=first, time=time)


_MOCHA_END = line_pattern(r" +(\d+) (passing|failing|pending)(?: \((\d+(?:\.\d+)?)(m?s)\))?$")
_MOCHA_BAD = line_pattern(r" +1\) (\S[^\n]*)\n +(\S[^\n]*):\n\s+(\S[^\n]*)")
_MOCHA_NAME = line_pattern(r" {4,}\d+\) (\S[^\n]*)$")


def mocha(text: str) -> Verdict | None:
    """Read the summary of mocha's spec reporter."""
    found = list(_MOCHA_END.finditer(text))
    if not found or not any(one.group(2) == "passing" for one in found):
        return None
    words = {"passing": "passed", "failing": "failed", "pending": "skipped"}
    counts = {words[one.group(2)]: int(one.group(1)) for one in found}
    bad = _last(_MOCHA_BAD, text)
    first = f"{bad.group(1)} {bad.group(2)} - {bad.group(3)}" if bad else ""
    names = _MOCHA_NAME.findall(text)
    time = next((_Timed(*one.group(3, 4)) for one in found if one.group(3)), None)
    return _counted("mocha", counts, names=names, first=first, time=time)


_NODE_END = line_pattern(r"(?:#|\u2139) (tests|pass|fail|skipped) (\d+)$")
_NODE_TIME = line_pattern(r"(?:#|\u2139) duration_ms (\d+)")
_NODE_BAD = line_pattern(r" *(?:not ok \d+ - |✖ )([^\n(]*)")
_NODE_WHY = line_pattern(r" +(?:error: '([^\n]*)'|(\w*Error\b[^\n]*))$")


def node(text: str) -> Verdict | None:
    """Read the summary of node's own test runner (TAP or spec)."""
    found = {word: int(number) for word, number in _NODE_END.findall(text)}
    if "pass" not in found or "fail" not in found:
        return None
    counts = {word: found.get(key, 0) for key, word in _NODE_WORDS.items()}
    names = [name.strip() for name in _NODE_BAD.findall(text) if name.strip() != "failing tests:"]
    why = _NODE_WHY.search(text) if counts["failed"] else None
    first = " - ".join([*names[:1], *([why.group(1) or why.group(2)] if why else [])])
    time = _NODE_TIME.search(text)
    timed = _Timed(time.group(1), "ms") if time else None
    return _counted("node", counts, names=names, first=first, time=timed)


_NODE_WORDS = {"pass": "passed", "fail": "failed", "skipped": "skipped"}

_GO_TEST = line_pattern(r" *--- (FAIL|PASS|SKIP): (\S+)")
_GO_PACKAGE = line_pattern(r"(ok|FAIL|---|\?) *\t(\S+)(?:[\t ][^\n]*)?$")
_GO_WHY = line_pattern(r" +(\w\S*\.go:\d+): *([^\n]+)$|(panic: [^\n]+)$|(\S+\.go:\d+:\d+: [^\n]+)$")


def go_test(text: str) -> Verdict | None:
    """Read `go test`; without `-v` it names passing packages only, so those are counted."""
    packages = [state for state, _ in _GO_PACKAGE.findall(text) if state in ("ok", "FAIL")]
    tests = _GO_TEST.findall(text)
    if not packages and not tests:
        return None
    names = [name for state, name in tests if state == "FAIL"]
    passed = sum(state == "PASS" for state, _ in tests)
    bad_packages, good_packages = packages.count("FAIL"), packages.count("ok")
    why = _GO_WHY.search(text) if names or bad_packages else None
    first = ": ".join(part for part in why.groups() if part) if why else ""
    if names and first:
        first = f"{names[0]} - {first}"
    said = f"{len(names)} failed, {passed} passed" if passed else f"{len(names)} failed"
    if not names:
        said = f"{passed} passed" if passed else ""
    in_packages = f"{good_packages} of {len(packages)} packages ok" if packages else ""
    shown = ", ".join(part for part in (said, in_packages) if part)
    failed = max(len(names), bad_packages)
    return _verdict("go test", passed, failed, said=shown, names=names, first=first)


_CARGO_END = line_pattern(
    r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;"
    r"(?:[^\n]*finished in (\d+\.\d+)s)?"
)
_CARGO_BAD = line_pattern(r"test (\S+)(?: - should panic)? \.\.\. FAILED$")
_CARGO_WHY = re.compile(r"panicked at ([^\s:,]+:\d+)(?::\d+)?:?\n(\S[^\n]*)")


def cargo_test(text: str) -> Verdict | None:
    """Read `cargo test`: the sum over its test binaries."""
    ends = _CARGO_END.findall(text)
    if not ends:
        return None
    passed, failed, ignored = (sum(int(end[part]) for end in ends) for part in range(3))
    seconds = sum(float(end[3] or 0) for end in ends)
    names = _CARGO_BAD.findall(text)
    why = _CARGO_WHY.search(text) if failed else None
    first = " - ".join([*names[:1], *([f"{why.group(1)}: {why.group(2)}"] if why else [])])
    said = result_said(
        passed=passed, failed=failed, skipped=ignored, seconds=f"{seconds:.2f}" if seconds else ""
    )
    return _verdict("cargo test", passed, failed, said=said, names=names, first=first)


class _Timed:
    """A number and its unit, shaped like a match."""

    def __init__(self, number: str, unit: str) -> None:
        self._parts = (number, unit)

    def group(self, number: int) -> str:
        return self._parts[number - 1]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is the summary
        pass
    return found


def _counts(summary: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNT.findall(summary)}


def _counted(
    tool: str,
    counts: dict[str, int],
    *,
    names: Iterable[str],
    first: str,
    time: re.Match[str] | _Timed | None,
) -> Verdict:
    passed, failed = counts.get("passed", 0), counts.get("failed", 0)
    seconds = ""
    if time:
        seconds = time.group(1)
        if time.group(2) == "ms":
            seconds = str(float(seconds) / 1000)
    said = result_said(
        passed=passed, failed=failed, skipped=counts.get("skipped", 0), seconds=seconds
    )
    return _verdict(tool, passed, failed, said=said, names=names, first=first)


def _verdict(
    tool: str, passed: int, failed: int, *, said: str, names: Iterable[str], first: str
) -> Verdict:
    return Verdict(
        tool=tool,
        ok=not failed,
        said=said,
        passed=passed,
        failed=failed,
        failing=distinct((one_line(name, 200) for name in names), FAILING) if failed else (),
        first_error=one_line(first, 300) if failed else "",
    )
