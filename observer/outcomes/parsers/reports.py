"""Reports for machines that were printed instead of written: JSON of four test tools, JUnit's XML.

Part of interpretation (step 6). A report may be cut anywhere, so it is searched, not parsed.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from observer.core.text import one_line, uncoloured
from observer.outcomes.parsers.parser import STRING, OutputParser, decode_json_string
from observer.outcomes.result import CommandResult, Diagnostic, TestCounts, run_result

_WORDS = 160
_PLACE = re.compile(r"(?:at |[(\"\n\u276f] ?)(?:file://)?([^\s():\"<]+\.\w+:\d+)")
_NOT_OWN = ("node_modules/", "/rubygems", "/gems/", "node:", "site-packages/")


class JsonReportFormat(NamedTuple):
    """How a tool's JSON counts its tests, and what stands before the parts of each."""

    tool: str
    ran: str
    failed: str
    skipped: str
    broken: str
    each: str
    name: str
    words: str

    def read(self, text: str) -> CommandResult | None:
        """Read a report; what broke outside of tests counts where no test failed."""
        ran, failed, skipped, broken = (
            int(found[1]) if (found := re.search(f'"{key}": *(\\d{{1,9}})', text)) else None
            for key in (self.ran, self.failed, self.skipped, self.broken)
        )
        if ran is None or failed is None:
            return None
        passed = max(ran - failed - (skipped or 0), 0)
        tally = TestCounts(passed=passed, failed=failed or broken or 0, skipped=skipped or 0)
        return _result(self.tool, tally, self._failing(text))

    def _failing(self, text: str) -> list[Diagnostic]:
        name = re.compile(f'"{self.name}": *({STRING})')
        words = re.compile(f'"{self.words}\\s*({STRING})')
        return [
            _complaint(decode_json_string(named[1]), decode_json_string(said[1]), case)
            for case in text.split(f'"{self.each}"')[1:]
            if (named := name.search(case)) and (said := words.search(case))
        ]


_JEST = JsonReportFormat(
    tool="jest",
    ran="numTotalTests",
    failed="numFailedTests",
    skipped="numPendingTests",
    broken="numFailedTestSuites",
    each="ancestorTitles",
    name="fullName",
    words='failureMessages": *\\[',
)
_MOCHA = JsonReportFormat(
    tool="mocha",
    ran="tests",
    failed="failures",
    skipped="pending",
    broken="",
    each="title",
    name="fullTitle",
    words='stack":',
)
_RSPEC = JsonReportFormat(
    tool="rspec",
    ran="example_count",
    failed="failure_count",
    skipped="pending_count",
    broken="errors_outside_of_examples_count",
    each="id",
    name="full_description",
    words='message":',
)

_SUITE = re.compile(r"<testsuites?\b[^<>]*\btests=\"\d[^<>]*>")
_COUNT = re.compile(r"\b(tests|failures|errors)=\"(\d{1,9})\"")
_ATTRIBUTE = re.compile(r"\b(classname|name)=\"([^\"]*)\"")
_BAD = re.compile(r"<(?:failure|error)\b(?:[^<>]*?\bmessage=\"([^\"]*)\")?[^<>]*>([^<]*)")


def junit(text: str) -> CommandResult | None:
    """Read the XML of JUnit, which many tools write."""
    suite = _SUITE.search(text)
    if suite is None:
        return None
    counts = {name: int(number) for name, number in _COUNT.findall(suite.group())}
    failed, skipped = counts.get("failures", 0) + counts.get("errors", 0), text.count("<skipped")
    bad = [_case(case) for case in text.split("<testcase ")[1:] if _BAD.search(case)]
    passed = max(counts.get("tests", 0) - failed - skipped, 0)
    return _result("junit", TestCounts(passed=passed, failed=failed, skipped=skipped), bad)


def _case(case: str) -> Diagnostic:
    named = dict(_ATTRIBUTE.findall(case.partition(">")[0]))
    name = "::".join(filter(None, (named.get("classname"), named.get("name"))))
    message, body = next(iter(_BAD.findall(case)))
    return _complaint(html.unescape(name), html.unescape(message or body), case)


def _complaint(name: str, words: str, case: str) -> Diagnostic:
    said = uncoloured(words).partition("\n    at ")[0]
    own = (place for place in _PLACE.findall(case) if not any(part in place for part in _NOT_OWN))
    return Diagnostic(one_line(said, _WORDS), next(own, ""), name)


def _result(tool: str, tally: TestCounts, failing: list[Diagnostic]) -> CommandResult:
    first = next(iter(failing), Diagnostic())
    return run_result(tool, tally, failing=[one.test for one in failing], first=first)


PARSERS = (
    OutputParser(_JEST.read, ("jest",), ('"numRuntimeErrorTestSuites"',)),
    OutputParser(_JEST._replace(tool="vitest").read, ("vitest",), ('"numTotalTestSuites"',)),
    OutputParser(_MOCHA.read, ("mocha",), ('"passes": ',)),
    OutputParser(_RSPEC.read, ("rspec",), ('"example_count"',)),
    OutputParser(junit, (), ("<testsuite",)),
)
