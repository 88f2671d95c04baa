"""What Python's tools say: pytest, unittest, pip, and a traceback."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from observer.commands.parsers.parser import OutputParser
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    TestCounts,
    failed_result,
    last_match,
    line_pattern,
    run_result,
    word_counts,
)
from observer.core.text import counted, one_line

_PYTEST_END = line_pattern(
    r"=*+ ?((?:\d+ (?:subtests )?[a-z]+(?:, )?){1,12}|no tests ran) in (\d+(?:\.\d+)?)s\b"
)
_PYTEST_CAPTURED = "- Captured "
_PYTEST_BAD = line_pattern(
    r"(?:FAILED |ERROR |SUBFAIL[^\n]{0,200}? (?=[^\s:]+::))"
    r"([^\s:][^\s\[]*(?:\[[^\n]*?\](?= - |$))?)(?: - ([^\n]*))?$"
)
_PYTEST_NAMED = line_pattern(
    r"(?:FAILED|ERROR) [^\s:]+\.py(?:::\S+)?(?: - [^\n]*)?$|[^\s:]+\.py::\S+ FAILED\b"
)
"""What is left of a summary, or of `-v`, where its other lines were cut off."""
_PYTEST_USAGE = line_pattern(r"ERROR: ([^\n]+)$")
_PYTEST_COVERAGE = line_pattern(
    r"(?:ERROR: |FAIL )((?:Coverage failure|Required test coverage)\b[^\n]+)$"
)
_PYTEST_BROKE = line_pattern(r"INTERNALERROR> ([\w.]+(?:Error|Exception|Exit|Warning)\b[^\n]*)$")
_PYTEST_HEADING = line_pattern(r"_{3,}+ (\S[^\n]*) _{3,}+$")
_PYTEST_WHY = line_pattern(r"E +(\S[^\n]*)$")
_PYTEST_RAISED = line_pattern(r"E +([\w.]+(?:Error|Exception|Exit|Interrupt|Warning)\b[^\n]*)$")
_PYTEST_PLACE = line_pattern(
    r"([^\s:>][^\n:]*:\d+): (?:in [^\n]+|[\w.]*)$|[E ] +File \"([^\"\n]+)\", line (\d+)"
)
_PYTEST_LINE = line_pattern(r"(\S[^\n:]*:\d+): ([^\n]+)$")
_PYTEST_SECTION = line_pattern(r"=+ (?:FAILURES|ERRORS) =+$")
_PYTEST_SUMMARY = "= short test summary info ="
_PYTEST_CONFTEST = "\nImportError while loading conftest "


def pytest(text: str) -> CommandResult | None:
    """Read pytest's summaries, with or without `-q`, whatever the style of its tracebacks."""
    ends = _pytest_ends(text)
    if not ends:
        return _pytest_without_end(text)
    counts = word_counts(", ".join(end.group(1) for end in ends))
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    tally = TestCounts(
        passed=counts.get("passed", 0),
        failed=failed,
        skipped=counts.get("skipped", 0),
        seconds=sum(float(end.group(2)) for end in ends),
    )
    usage = _PYTEST_COVERAGE if tally.passed else _PYTEST_USAGE
    if not failed and (stop := last_match(_PYTEST_BROKE, text) or usage.search(text)):
        said = str(tally) if tally.passed else "no tests ran"
        return failed_result("pytest", said, Diagnostic(stop[1]), passed=tally.passed, failed=0)
    return _pytest_ran(text, tally)


def _pytest_ran(text: str, tally: TestCounts, said: str = "") -> CommandResult:
    bad = _PYTEST_BAD.findall(text) if tally.failed else []
    headings = list(_PYTEST_HEADING.finditer(text)) if tally.failed else []
    names = [name for name, _ in bad] or [heading.group(1) for heading in headings]
    words = bad[0][1] if bad else ""
    first = _pytest_first(text, names[0], words, headings) if names else Diagnostic()
    return run_result("pytest", tally, failing=names, first=first, said=said)


def _pytest_ends(text: str) -> list[re.Match[str]]:
    """Return the summary of each run, but for what a failing test printed."""
    ends: list[re.Match[str]] = []
    start = 0
    for end in _PYTEST_END.finditer(text):
        captured = text.rfind(_PYTEST_CAPTURED, start, end.start())
        if captured < 0 or text.find("\n=====", captured, end.end()) >= 0:
            ends.append(end)
            start = end.end()
    return ends


def _pytest_without_end(text: str) -> CommandResult | None:
    if _PYTEST_CONFTEST in text:
        return failed_result("pytest", "no tests ran", _pytest_section(text, name="", words=""))
    if broke := last_match(_PYTEST_BROKE, text):
        return failed_result("pytest", "pytest broke", Diagnostic(broke.group(1)))
    if _PYTEST_SUMMARY in text and (bad := _PYTEST_BAD.findall(text)):
        return _pytest_ran(text, TestCounts(passed=None, failed=len(bad)))
    if _PYTEST_SECTION.search(text) or _PYTEST_NAMED.search(text):
        cut = _pytest_ran(text, TestCounts(passed=None, failed=1), "tests failed")
        # What comes behind the cut may have failed too: how many and which is not known.
        return replace(cut, failed=None, failing=())
    return None


def _pytest_first(
    text: str, name: str, words: str, headings: Sequence[re.Match[str]]
) -> Diagnostic:
    title = name.partition("::")[2].replace("::", ".") or name
    for number, heading in enumerate(headings):
        if f"{title} " in f"{heading.group(1)} ":
            after = headings[number + 1].start() if number + 1 < len(headings) else len(text)
            return _pytest_section(text[heading.end() : after].partition("\n=====")[0], name, words)
    known = words.removesuffix("...").rstrip()
    for place, said in _PYTEST_LINE.findall(text) if known else ():
        if said.startswith(known):
            return Diagnostic(said, place, name)
    why = _PYTEST_WHY.search(text)
    return Diagnostic(words or (why.group(1) if why else ""), test=name)


def _pytest_section(section: str, name: str, words: str) -> Diagnostic:
    own = [
        plain or f"{path}:{line}"
        for plain, path, line in _PYTEST_PLACE.findall(section)
        if _is_own(plain or path)
    ]
    why = last_match(_PYTEST_RAISED, section) or _PYTEST_WHY.search(section)
    return Diagnostic(why.group(1) if why else words, own[-1] if own else "", name)


_UNITTEST_RAN = line_pattern(r"Ran (\d+) tests? in (\d+\.\d+)s$")
_UNITTEST_END = line_pattern(r"(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?$")
_UNITTEST_BAD = line_pattern(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+)(?: \(([\w.]+)\))?")
_UNITTEST_RULE = "\n======"
_UNITTEST_LOADER = "unittest.loader._FailedTest."
_ASSIGNED = re.compile(r"([a-z][a-z ]*)=(\d+)")
_UNITTEST_FAILED = ("failures", "errors", "unexpected successes")


def unittest(text: str) -> CommandResult | None:
    """Read the summaries of Python's unittest (and of Django's runner)."""
    runs, ends = _UNITTEST_RAN.findall(text), _UNITTEST_END.findall(text)
    if not runs or not ends:
        return None
    counts = Counter[str]()
    for word, number in _ASSIGNED.findall(", ".join(ends)):
        counts[word] += int(number)
    failed = sum(counts[word] for word in _UNITTEST_FAILED)
    other = counts["skipped"] + counts["expected failures"]
    bad = list(_UNITTEST_BAD.finditer(text)) if failed else []
    names = []
    for one in bad:
        where = (one[2] or "").removeprefix(_UNITTEST_LOADER)
        names.append(where if where.endswith(one[1]) else f"{where}.{one[1]}".strip("."))
    first = Diagnostic()
    if bad:
        section = text[bad[0].end() :].partition(_UNITTEST_RULE)[0]
        first = (_raised(section) or first)._replace(test=names[0])
    return run_result(
        "unittest",
        TestCounts(
            passed=max(sum(int(number) for number, _ in runs) - failed - other, 0),
            failed=failed,
            skipped=counts["skipped"],
            seconds=sum(float(seconds) for _, seconds in runs),
        ),
        failing=names,
        first=first,
    )


_PIP_ERROR = line_pattern(r"ERROR: ([^\n]+)$")
_PIP_DONE = line_pattern(r"Successfully (installed|uninstalled|built) ([^\n]+)$")


def pip(text: str) -> CommandResult | None:
    """Read pip's own words: what it installed, or why it stopped."""
    error, done = _PIP_ERROR.search(text), _PIP_DONE.search(text)
    if error:
        raised = _raised(text) if error.group(1) == "Exception:" else None
        return failed_result("pip", "pip stopped", raised or Diagnostic(error.group(1)))
    if done:
        packages = done.group(2).split()
        said = f"{done.group(1)} {counted(len(packages), 'package')}: {' '.join(packages)}"
        return CommandResult(tool="pip", ok=True, said=one_line(said, 160))
    return None


_TRACEBACK = "Traceback (most recent call last):"
_GROUP = "+ Exception Group Traceback"
_NEXT_IN_GROUP = "\n+---------------- 2 "
_MARGIN = re.compile(r"\n +(?:\| ?)?")
_FRAME = line_pattern(r" +File \"([^\"\n]+)\", line (\d+)")
_RAISED = line_pattern(r"([A-Za-z_][\w.]*(?::[^\n]*)?)$")
_SYNTAX = line_pattern(r"((?:Syntax|Indentation|Tab)Error: [^\n]*)$")


def traceback(text: str) -> CommandResult | None:
    """Read a plain traceback; the last one of a chain counts."""
    raised = _raised(text)
    return failed_result("python", "an error was raised", raised) if raised else None


def _raised(text: str) -> Diagnostic | None:
    if (group := text.find(_GROUP)) >= 0:  # of a group the first error counts
        text = _MARGIN.sub("\n", text[group:]).partition(_NEXT_IN_GROUP)[0]
    start = text.rfind(_TRACEBACK)
    syntax = _SYNTAX.search(text) if start < 0 else None
    frames = _FRAME.findall(text, max(start, 0))
    if start < 0 and not (syntax and frames):
        return None
    end = syntax or _RAISED.search(text, start)
    own = [frame for frame in frames if _is_own(frame[0])]
    return Diagnostic(end.group(1) if end else "traceback", ":".join(own[-1]) if own else "")


def _is_own(path: str) -> bool:
    return not path.startswith("<") and "/lib/python" not in path and "site-packages" not in path


PARSERS = (
    OutputParser(
        pytest,
        ("pytest", "py.test"),
        (
            " passed",
            " failed",
            " error",
            "no tests ran",
            "loading conftest",
            _PYTEST_SUMMARY,
            "= FAILURES =",
            ".py::",
        ),
    ),
    OutputParser(unittest, ("unittest",), ("\nRan ",)),
    OutputParser(pip, ("pip", "pip3", "uv"), ("Successfully ",)),
    OutputParser(
        traceback, (), (_TRACEBACK, "SyntaxError: ", "IndentationError: "), is_raised=True
    ),
)
