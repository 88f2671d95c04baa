"""What JavaScript's tools say: test runners, bundlers, npm, and a thrown error.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from observer.commands.parsers.parser import Format, OutputParser
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    first_error_line,
    last_match,
    line_pattern,
    problem_result,
    problems_text,
    run_result,
    total_seconds,
    word_counts,
)
from observer.core.text import distinct, one_line

_FRAME = line_pattern(r" +(?:at|\u276f) (?:[^\n(]*\(|(?:async )?(?:\S+ )?)([^\s()]+:\d+):\d+\)?")
_STACK_CHARS = 3000


def _place(text: str, start: int, others: Sequence[re.Match[str]] = ()) -> str:
    """Return the first place of the project's own in the stack that follows, up to the others."""
    until = min([start + _STACK_CHARS, *(one.start() for one in others[:1])])
    for path in _FRAME.findall(text[start:until]):
        own = str(path).removeprefix("file://")
        if "node:" not in own and "node_modules/" not in own:
            return own
    return ""


def _words(line: str, next_line: str | None) -> str:
    """Return what an error says, with its next line where the first only announces it."""
    is_more = next_line and line.endswith(":") and next_line != _DIFF
    return f"{line} {next_line}" if is_more else line


_DIFF = "+ actual - expected"


_JEST_END = line_pattern(r"Tests: +((?:\d[^\n]*)?\d total)$")
_JEST_SUITES = line_pattern(r"Test Suites: +(\d+) failed")
_JEST_TIME = line_pattern(r"Time: +(\d+(?:\.\d+)?) ?(m?s)")
_JEST_BAD = line_pattern(r" +● (?!Console)(\S[^\n]*)\n\s*(\S[^\n]*)?")
_JEST_SUITE = line_pattern(r" *FAIL +(\S+)")
_JEST_FAIL = "\nFAIL "
_NONE_FOUND = line_pattern(r"(No tests? (?:files )?found), exiting with code 1$")
_NEVER_RAN = "Test suite failed to run"


def jest(text: str) -> CommandResult | None:
    """Read jest's summaries; a suite that could not run counts as a failing test."""
    ends = _JEST_END.findall(text)
    if not ends:
        return _none_found("jest", text)
    counts = word_counts(", ".join(ends))
    bad = list(_JEST_BAD.finditer(text))
    suites = _JEST_SUITE.findall(text)
    some = _JEST_SUITES.search(text)
    names = [_jest_name(text, one) for one in bad]
    broken = {name for name, one in zip(names, bad, strict=True) if one.group(1) == _NEVER_RAN}
    first = Diagnostic()
    if bad:
        first = Diagnostic(bad[0].group(2) or "", _place(text, bad[0].end(), bad[1:]), names[0])
    return run_result(
        "jest",
        TestCounts(
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0) + len(broken) or int(some.group(1) if some else 0),
            skipped=counts.get("skipped", 0),
            seconds=_seconds(_JEST_TIME, text),
        ),
        failing=filter(None, names or suites),
        first=first if bad else Diagnostic(test="".join(suites[:1])),
    )


def _none_found(tool: str, text: str) -> CommandResult | None:
    none = _NONE_FOUND.search(text)
    return failed_result(tool, "no tests ran", Diagnostic(none.group(1))) if none else None


def _jest_name(text: str, bad: re.Match[str]) -> str:
    """Return the name of a failing test, or of the suite that never ran, which stands above it."""
    if bad.group(1) != _NEVER_RAN:
        return bad.group(1)
    suite = _JEST_SUITE.match(text, text.rfind(_JEST_FAIL, 0, bad.start()))
    return suite.group(1) if suite else ""


_VITEST_END = line_pattern(r" *Tests +(no tests|\d[^\n]*\(\d+\))")
_VITEST_SUITES = line_pattern(r" *Test Files +(\d+) failed")
_VITEST_ERRORS = line_pattern(r" *Errors +(\d+) errors?")
_VITEST_TIME = line_pattern(r" *Duration +(\d+(?:\.\d+)?)(m?s)")
_VITEST_BAD = line_pattern(r" *FAIL +(?!Tests failed\. Watching)(\S[^\n]*)\n(\S[^\n]*)?")
_NEVER_BEGAN = " [ "


def vitest(text: str) -> CommandResult | None:
    """Read vitest's summaries; a suite that could not run counts as a failing test."""
    ends = _VITEST_END.findall(text)
    if not ends:
        return _none_found("vitest", text)
    counts = word_counts(", ".join(ends))
    suites = _VITEST_SUITES.search(text) or _VITEST_ERRORS.search(text)
    bad = list(_VITEST_BAD.finditer(text))
    names = [one.group(1).partition(_NEVER_BEGAN)[0] for one in bad]
    broken = sum(_NEVER_BEGAN in one.group(1) for one in bad)
    first = Diagnostic()
    if bad:
        first = Diagnostic(bad[0].group(2) or "", _place(text, bad[0].end(1), bad[1:]), names[0])
    return run_result(
        "vitest",
        TestCounts(
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0) + broken or (int(suites.group(1)) if suites else 0),
            skipped=counts.get("skipped", 0),
            seconds=_seconds(_VITEST_TIME, text),
        ),
        failing=names,
        first=first,
    )


_MOCHA_END = line_pattern(r" +(\d+) (passing|failing|pending)(?: \((\d+(?:\.\d+)?)(m?s)\))?$")
_MOCHA_BAD = line_pattern(
    r" {2}\d+\) (\S[^\n]*(?:\n {5,}\S[^\n]*){0,9}):\n\s*(\S[^\n]*)(?:\n\s*(\S[^\n]*))?"
)


def mocha(text: str) -> CommandResult | None:
    """Read the summaries of mocha's reporters."""
    found = list(_MOCHA_END.finditer(text))
    counts = word_counts(", ".join(f"{one.group(1)} {one.group(2)}" for one in found))
    if "passing" not in counts:
        return None
    bad = list(_MOCHA_BAD.finditer(text, found[0].end())) if counts.get("failing") else []
    names = [" ".join(one.group(1).split()) for one in bad]
    first = Diagnostic()
    if bad:
        words = _words(*bad[0].group(2, 3))
        first = Diagnostic(words, _place(text, bad[0].end(2), bad[1:]), names[0])
    return run_result(
        "mocha",
        TestCounts(
            passed=counts["passing"],
            failed=counts.get("failing", 0),
            skipped=counts.get("pending", 0),
            seconds=total_seconds(_in_seconds(*one.group(3, 4)) for one in found if one.group(3)),
        ),
        failing=names,
        first=first,
    )


_NODE_END = line_pattern(r"(?:#|\u2139) (tests|pass|fail|skipped) +(\d+)$")
_NODE_TIME = line_pattern(r"(?:#|\u2139) duration_ms (\d+)")
_NODE_BAD = line_pattern(r" *(?:not ok \d+ (?:- )?|✖ )(?!failing tests:)([^\n(]*)")
_NODE_SAID = line_pattern(r" +(\w*Error\b[^\n]*)(?:\n\s*(\S[^\n]*))?")
_NODE_ERROR = re.compile(r" error: (?:\|-\n +([^\n]+)(?:\n\s*(\S[^\n]*))?|['\"]([^\n]*)['\"])")
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
    first = Diagnostic()
    if bad:
        section = text[bad[0].end() :][:_STACK_CHARS].partition("\n# Subtest")[0]
        first = (_tap(section) or _spec(section))._replace(test=names[0])
    return run_result(
        "node",
        TestCounts(
            passed=found["pass"],
            failed=found["fail"],
            skipped=found.get("skipped", 0),
            seconds=total_seconds(int(time) / 1000 for time in _NODE_TIME.findall(text)),
        ),
        failing=names,
        first=first,
    )


def _spec(section: str) -> Diagnostic:
    said = _NODE_SAID.search(section)
    return (
        Diagnostic(_words(*said.groups()), _place(section, said.end(1))) if said else Diagnostic()
    )


def _tap(section: str) -> Diagnostic | None:
    error = _NODE_ERROR.search(section)
    if error is None:
        return None
    words = error.group(3) or _words(error.group(1), error.group(2))
    kind, code = _NODE_KIND.search(section), _NODE_CODE.search(section)
    if kind:
        words = f"{kind.group(1)} [{code.group(1)}]: {words}" if code else f"{kind[1]}: {words}"
    place = _TAP_PLACE.search(section)
    return Diagnostic(words, place.group(1) if place else "")


_NPM_ERROR = line_pattern(r"npm (?:ERR!|error) (?!code\b|errno\b|A complete log\b)(\S[^\n]*)$")
_NPM_SCRIPT = line_pattern(r"npm (?:ERR!|error) (?:Lifecycle script|command failed)[^\n]*$")
_NPM_CODE = line_pattern(r"npm (?:ERR!|error) code (\S+)$")
_NPM_DONE = line_pattern(r"((?:added|removed|changed) \d+ packages?[^\n]*|up to date[^\n]*)$")


def npm(text: str) -> CommandResult | None:
    """Read what npm installed."""
    done = _NPM_DONE.search(text)
    return CommandResult(tool="npm", ok=True, said=one_line(done.group(1), 160)) if done else None


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


_THROWN = line_pattern(
    r"(?:Uncaught )?((?:\w*Error|\w*Exception)\b[^\n]*)(?:\n{1,3}(?! +at )(\S[^\n]*))?\n"
    r"(?:(?! +at )[^\n]*\n){0,6} +at [^\n]+"
)
_THROWN_AT = line_pattern(r"(?:file://)?([^\s:]+:\d+)$")


def thrown(text: str) -> CommandResult | None:
    """Read an error that node printed with its stack."""
    found = _THROWN.search(text)
    if found is None:
        return None
    words = _words(*found.groups())
    place = _place(text, found.end(1))
    if not place and words.startswith("SyntaxError") and (at := _THROWN_AT.search(text)):
        place = at.group(1)
    return failed_result("thrown", "an error was raised", Diagnostic(words, place))


def _seconds(pattern: re.Pattern[str], text: str) -> float | None:
    return total_seconds(_in_seconds(*time) for time in pattern.findall(text))


def _in_seconds(number: str, unit: str) -> float:
    return float(number) / 1000 if unit == "ms" else float(number)


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
    """Return the first failure: bun prints what a test threw last above its line."""
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


_WEBPACK_END = line_pattern(
    r"webpack \S+ compiled (?:successfully|with (?:(\d+) errors?)?(?: and )?(?:(\d+) warnings?)?)"
)
_WEBPACK_ERROR = line_pattern(r"ERROR in (\S+)(?: (\d+):\d+[^\n]*)?\n([^\n]+)$")


def webpack(text: str) -> CommandResult | None:
    """Read webpack's last line and its first error."""
    end = _WEBPACK_END.search(text)
    if end is None:
        return None
    errors, warnings = (int(number or 0) for number in end.groups())
    if not errors:
        return CommandResult(
            tool="webpack", ok=True, said=f"compiled with {problems_text(0, warnings)}"
        )
    found = _WEBPACK_ERROR.search(text)
    first = Diagnostic()
    if found:
        path, line, words = found.groups()
        first = Diagnostic(words, f"{path}:{line}" if line else path)
    return problem_result("webpack", errors, warnings=warnings, first=first)


_VITE = Format(
    "vite",
    line_pattern(
        r"error during build:\n(?:Build failed with \d+ errors?:\n)?\n*(?P<words>\S[^\n]*)$"
    ),
    place=line_pattern(r"(?:file: |[ ╭─]*\[ ?)(?P<place>[^\s:]+:\d+):\d+"),
    done=line_pattern(r"✓ (?P<fine>built in [\d.]+m?s)$"),
    stopped="the build stopped",
)
_ESBUILD = Format(
    "esbuild",
    line_pattern(r"✘ \[ERROR\] (?P<words>[^\n]+)(?:\n\n +(?P<place>[^\s:]+:\d+):\d+:)?"),
    total=line_pattern(r"(?:\d+ warnings? and )?(?P<errors>\d+) errors?$"),
)
_ROLLUP = Format(
    "rollup",
    line_pattern(r"\[!\] (?P<words>\S[^\n]*)(?:\n(?P<path>\S+) \((?P<line>\d+):\d+\)$)?"),
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
    OutputParser(jest, ("jest",), ("Tests: ",), end=_JEST_TIME),
    OutputParser(vitest, ("vitest",), (" Tests ",), end=_VITEST_TIME),
    OutputParser(mocha, ("mocha",), (" passing",)),
    OutputParser(node, ("tape",), ("# pass ", "\u2139 pass "), end=_NODE_TIME),
    OutputParser(npm, (), (" package", "up to date")),
    OutputParser(thrown, (), ("\n    at ",), is_raised=True),
    OutputParser(npm_stopped, (), ("npm error", "npm ERR!"), is_raised=True),
    OutputParser(playwright, ("playwright",), (" \u203a ", " passed (")),
    OutputParser(bun, ("bun",), (" expect() calls", " tests across ", "\n(fail) ", _UNHANDLED)),
    OutputParser(_DENO.read, ("deno",), (" passed | ",)),
    OutputParser(webpack, ("webpack",), ("\nwebpack ",)),
    OutputParser(_VITE.read, ("vite",), ("error during build:", "✓ built in ")),
    OutputParser(_ESBUILD.read, ("esbuild", "tsup"), ("✘ [ERROR] ",)),
    OutputParser(_ROLLUP.read, ("rollup",), ("\n[!] ",)),
)
