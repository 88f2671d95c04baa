"""What JavaScript's tools say: jest, vitest, mocha, node:test, tsc, eslint, npm, a thrown error.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from observer.core.text import distinct, one_line
from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    first_error_line,
    line_pattern,
    problem_result,
    run_result,
    sum_columns,
    total_seconds,
    word_counts,
)

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


_TSC = line_pattern(
    r"([^\s(:][^\n(:]*)(?:\((\d+),\d+\)|:(\d+):\d+)(?: -|:) error (TS\d+): ([^\n]*)$"
)


def tsc(text: str) -> CommandResult | None:
    """Read TypeScript's errors, plain or pretty."""
    found = _TSC.findall(text)
    if not found:
        return None
    path, line, pretty_line, code, message = found[0]
    first = Diagnostic(f"{code}: {message}", f"{path}:{line or pretty_line}")
    return problem_result("tsc", len(found), first=first)


_ESLINT_END = line_pattern(r"✖ \d+ problems? \((\d+) errors?, (\d+) warnings?\)")
_ESLINT_FILE = line_pattern(r"(/\S[^\n]*|[A-Za-z]:\\[^\n]*|\S+\.\w+)\n +(\d+):\d+ ")
_ESLINT_BROKE = line_pattern(r"Oops! Something went wrong! :\(\n+ESLint: [^\n]*\n+(\S[^\n]*)$")
_ESLINT_ERROR = line_pattern(r" +(\d+):\d+ +error +(\S[^\n]*)$")


def eslint(text: str) -> CommandResult | None:
    """Read eslint's stylish reports, or why there is none."""
    ends = _ESLINT_END.findall(text)
    if not ends:
        broke = _ESLINT_BROKE.search(text)
        return (
            failed_result("eslint", "eslint stopped", Diagnostic(broke.group(1))) if broke else None
        )
    errors, warnings = sum_columns(ends)
    first = Diagnostic()
    if error := _ESLINT_ERROR.search(text):
        files = [one for one in _ESLINT_FILE.finditer(text) if one.start() < error.start()]
        place = f"{files[-1].group(1)}:{error.group(1)}" if files else ""
        first = Diagnostic(" ".join(error.group(2).split()), place)
    return problem_result("eslint", errors, warnings=warnings, first=first)


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


PARSERS = (
    OutputParser(jest, ("jest",), ("Tests: ",), end=_JEST_TIME),
    OutputParser(vitest, ("vitest",), (" Tests ",), end=_VITEST_TIME),
    OutputParser(mocha, ("mocha",), (" passing",)),
    OutputParser(node, ("tape",), ("# pass ", "\u2139 pass "), end=_NODE_TIME),
    OutputParser(tsc, ("tsc",), ("error TS",)),
    OutputParser(eslint, ("eslint",), ("✖ ", "Oops! Something")),
    OutputParser(npm, (), (" package", "up to date")),
    OutputParser(thrown, (), ("\n    at ",), is_raised=True),
    OutputParser(npm_stopped, (), ("npm error", "npm ERR!"), is_raised=True),
)
