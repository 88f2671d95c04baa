"""What JavaScript's tools say: test runners, bundlers, npm, and a thrown error."""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.commands.parsers.parser import Format, OutputParser, diagnostic, in_turn
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    first_error_line,
    last_match,
    line_pattern,
    run_result,
    word_counts,
)
from observer.core.text import distinct

_WORDS = r"(?P<words>\S[^\n]*)(?:(?<=:)\n\s*(?!\+ actual - expected)(?P<more>\S[^\n]*))?"
"""What an error says, with its next line where the first only announces it."""
_STACK_CHARS = 3000
_OWN_FRAME = line_pattern(
    r" +(?:at|\u276f) (?:[^\n(]*\(|(?:async )?(?:\S+ )?)(?:file://)?"
    r"(?P<place>(?![^\s()]*node(?::|_modules/))[^\s()]+:\d+):\d+\)?"
)
_NONE_FOUND = line_pattern(r"(?P<words>No tests? (?:files )?found), exiting with code 1$")
_NO_JEST, _NO_VITEST = (
    Format(tool, _NONE_FOUND, stopped="no tests ran") for tool in ("jest", "vitest")
)
_IN_TIME = r"(?P<seconds>\d+(?:\.\d+)?) ?(?P<unit>m?s)"
_JEST = Format(
    "jest",
    line_pattern(
        r"(?: *FAIL +(?P<never>\S+)[^\n]*\n +● Test suite failed to run"
        r"| +● (?!Console|Test suite failed)(?P<test>\S[^\n]*))\n\s*(?P<words>\S[^\n]*)?"
    ),
    line_pattern(r"Tests: +(?P<counts>(?:\d[^\n]*)?\d total)$"),
    line_pattern(r"(?:Test Suites: +(?P<lost>\d+) failed|Time: +" + _IN_TIME + ")"),
    place=_OWN_FRAME,
)
_VITEST = Format(
    "vitest",
    line_pattern(
        r" *FAIL +(?!Tests failed\. Watching)(?:(?P<never>\S[^\n]*?) \[ [^\n]*"
        r"|(?P<test>\S[^\n]*))\n(?P<words>\S[^\n]*)?"
    ),
    line_pattern(r" *Tests +(?:no tests|(?P<counts>\d[^\n]*)\(\d+\))"),
    line_pattern(
        r" *(?:Test Files +(?P<lost>\d+) failed|Errors +(?P<lost2>\d+) errors?"
        r"|Duration +" + _IN_TIME + ")"
    ),
    place=_OWN_FRAME,
)
_MOCHA = Format(
    "mocha",
    line_pattern(r" {2}\d+\) (?P<test>\S[^\n]*(?:\n {5,}\S[^\n]*){0,9}):\n\s*" + _WORDS),
    line_pattern(
        r" +(?:(?P<passed>\d+) passing|(?P<failed>\d+) failing|(?P<skipped>\d+) pending)"
        r"(?: \(" + _IN_TIME + r"\))?$"
    ),
    place=_OWN_FRAME,
)


_NODE_END = line_pattern(r"(?:#|\u2139) (tests|pass|fail|skipped) +(\d+)$")
_NODE_TIME = line_pattern(r"(?:#|\u2139) duration_ms (\d+)")
_NODE_BAD = line_pattern(r" *(?:not ok \d+ (?:- )?|✖ )(?!failing tests:)([^\n(]*)")
_NODE_SAID = line_pattern(r" +(?=\w*Error\b)" + _WORDS)
_NODE_ERROR = re.compile(rf" error: (?:\|-\n +{_WORDS}|['\"](?P<words2>[^\n]*)['\"])")
_NODE_KIND = re.compile(r" name: '(\w+)'")
_NODE_CODE = re.compile(r" code: '(?!ERR_TEST_FAILURE)(\w+)'")
_TAP_PLACE = re.compile(r"\((?:file://)?([^\s()]+\.\w+:\d+):\d+\)")


def node(text: str) -> CommandResult | None:
    """Read the summaries of node's own test runner (TAP or spec)."""
    found = word_counts(", ".join(f"{number} {word}" for word, number in _NODE_END.findall(text)))
    if "pass" not in found or "fail" not in found:
        return None
    bad = list(_NODE_BAD.finditer(text)) if found["fail"] else []
    names = distinct((one.group(1).strip() for one in bad), found["fail"])
    times = [int(time) for time in _NODE_TIME.findall(text)]
    first = Diagnostic()
    if bad:
        section = text[bad[0].end() :][:_STACK_CHARS].partition("\n# Subtest")[0]
        said = _NODE_SAID.search(section)
        place = _OWN_FRAME.search(section, said.end("words")) if said else None
        spec = diagnostic(said)._replace(place=diagnostic(place).place)
        first = (_tap(section) or spec)._replace(test=names[0])
    return run_result(
        "node",
        TestCounts(
            passed=found["pass"],
            failed=found["fail"],
            skipped=found.get("skipped", 0),
            seconds=sum(times) / 1000 if times else None,
        ),
        failing=names,
        first=first,
    )


def _tap(section: str) -> Diagnostic | None:
    error = _NODE_ERROR.search(section)
    if error is None:
        return None
    words = diagnostic(error).words
    kind, code = _NODE_KIND.search(section), _NODE_CODE.search(section)
    if kind:
        words = f"{kind.group(1)} [{code.group(1)}]: {words}" if code else f"{kind[1]}: {words}"
    place = _TAP_PLACE.search(section)
    return Diagnostic(words, place.group(1) if place else "")


_NPM_ERROR = line_pattern(r"npm (?:ERR!|error) (?!code\b|errno\b|A complete log\b)(\S[^\n]*)$")
_NPM_SCRIPT = line_pattern(r"npm (?:ERR!|error) (?:Lifecycle script|command failed)[^\n]*$")
_NPM_CODE = line_pattern(r"npm (?:ERR!|error) code (\S+)$")
_NPM = Format(
    "npm",
    line_pattern(r"(?!)"),
    done=line_pattern(r"(?P<fine>(?:added|removed|changed) \d+ packages?[^\n]*|up to date[^\n]*)$"),
)


def npm_stopped(text: str) -> CommandResult | None:
    """Read why npm stopped."""
    error, code = _NPM_ERROR.search(text), _NPM_CODE.search(text)
    if not error and not code:
        return None
    if started := _NPM_SCRIPT.search(text):
        words = first_error_line(text[: started.start()]) or started.group().strip()
        return failed_result("npm", "a script failed", Diagnostic(words))
    said = error.group(1) if error else ""
    name = code.group(1) if code and not said.startswith(code.group(1)) else ""
    return failed_result("npm", "npm stopped", Diagnostic(": ".join(distinct((name, said), 2))))


_THROWN = Format(
    "thrown",
    line_pattern(
        r"(?:(?:file://)?(?P<place>[^\s:<]+:\d+)\n(?:[^\n]*\n){1,4}(?=SyntaxError))?(?:Uncaught )?"
        r"(?P<words>(?:\w*Error|\w*Exception)\b[^\n]*)"
        r"(?:(?<=:)\n{1,3}(?! +at |\+ actual - expected)(?P<more>\S[^\n]*))?"
        r"(?=\n{1,3}(?:(?! +at )[^\n]*\n){0,7} +at )"
    ),
    place=_OWN_FRAME,
    stopped="an error was raised",
)


_PLAYWRIGHT_COUNT = line_pattern(
    r"  (\d+) (passed|failed|flaky|skipped|did not run|interrupted)"
    r"(?: \((\d+(?:\.\d+)?)(m?s|m)\))?$"
)
_PLAYWRIGHT_WHOLE = re.compile(r"\n\s*\n  \d+ (?:flaky|skipped|did not run|passed)\b")
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


_BUN_COUNT = line_pattern(r" *(\d{1,9}) (pass|fail|skip|todo|error)s?$")
_BUN_RAN = line_pattern(r" *Ran (\d{1,9}) tests? across \d+ files?\.")
_BUN_BAD = line_pattern(r" *(?:\(fail\)|✗) (\S[^\n]*?)(?: \[[^\]\n]*\])?$")
_BUN_OTHER = line_pattern(r" *(?:\((?:pass|skip|todo)\)|✓|») \S[^\n]*$|\S+[._](?:test|spec)\.\w+:$")
_BUN_ERROR = line_pattern(r"((?:\w*Error|error|Failure): [^\n]+)$")
_UNHANDLED = "# Unhandled error between tests"
_BLOCK_END = "\n---------------"
_BUN_CHARS = 20_000
_BUN_PLACE = re.compile(r"\n +at [^\n]*?([^\s()]+:\d+):\d+\)?$", re.MULTILINE)


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
    unhandled = text.find(_UNHANDLED)
    if unhandled >= 0 and (not bad or unhandled < bad[0].start()):
        section = text[unhandled:].partition(_BLOCK_END)[2].partition(_BLOCK_END)[0]
        error = _BUN_ERROR.search(section)
        return _bun_complaint(section, error) if error else Diagnostic()
    if not bad:
        return Diagnostic()
    start = max(0, bad[0].start() - _BUN_CHARS)
    before = last_match(_BUN_OTHER, text[start : bad[0].start()])
    section = text[start + before.end() if before else start : bad[0].start() + 1]
    error, place = last_match(_BUN_ERROR, section), last_match(_BUN_PLACE, section)
    first = _bun_complaint(section, error) if error else Diagnostic(place=place[1] if place else "")
    return first._replace(test=bad[0].group(1))


def _bun_complaint(section: str, error: re.Match[str]) -> Diagnostic:
    place = _BUN_PLACE.search(section, error.end() - 1)
    words = error.group(1).removeprefix("error: ")
    return Diagnostic(words, place[1] if place else "")


_VITE = Format(
    "vite",
    line_pattern(
        r"error during build:\n(?:Build failed with \d+ errors?:\n)?\n*(?P<words>\S[^\n]*)$"
    ),
    place=line_pattern(r"(?:file: |[ ╭─]*\[ ?)(?P<place>[^\s:]+:\d+):\d+"),
    done=line_pattern(r"✓ (?P<fine>built in [\d.]+m?s)$"),
    stopped="the build stopped",
)
_DENO = Format(
    "deno",
    line_pattern(r"(?P<test>\S[^\n]*?) => (?P<place>\S+:\d+):\d+\nerror: (?P<words>[^\n]+)$"),
    line_pattern(
        r"(?:ok|FAILED) \| (?P<passed>\d{1,9}) passed[^|\n]*\| (?P<failed>\d{1,9}) failed"
        r"(?: \| (?P<skipped>\d{1,9}) ignored)?"
    ),
)

PARSERS = (
    OutputParser(in_turn(_JEST.read, _NO_JEST.read), ("jest",), ("Tests: ",)),
    OutputParser(in_turn(_VITEST.read, _NO_VITEST.read), ("vitest",), (" Tests ",)),
    OutputParser(_MOCHA.read, ("mocha",), (" passing",)),
    OutputParser(node, ("tape",), ("# pass ", "\u2139 pass ")),
    OutputParser(_NPM.read, (), (" package", "up to date")),
    OutputParser(_THROWN.read, (), ("\n    at ",), is_raised=True),
    OutputParser(npm_stopped, (), ("npm error", "npm ERR!"), is_raised=True),
    OutputParser(playwright, ("playwright",), (" \u203a ", " passed (")),
    OutputParser(bun, ("bun",), (" expect() calls", " tests across ", "\n(fail) ", _UNHANDLED)),
    OutputParser(_DENO.read, ("deno",), (" passed | ",)),
    OutputParser(_VITE.read, ("vite",), ("error during build:", "✓ built in ")),
)
