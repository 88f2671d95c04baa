"""What Python's checkers say: ruff, mypy, pyright, ty, flake8 and its parts, pylint, black, bandit.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    line_pattern,
    problem_result,
    sum_columns,
)

_RUFF_END = line_pattern(
    r"Found (?:\d+ errors? \(\d+ fixed, )?(\d+)(?: errors?\.| remaining\))|(All checks passed!)$"
    r"|(\d+) files? would be reformatted|(\d+ files? (?:already formatted|left unchanged))"
)
_RUFF_CONCISE = line_pattern(
    r"(\S[^\n:]*:\d+):\d+: ([A-Z]+\d+|SyntaxError|invalid-syntax):? ([^\n]+)$"
)
_RUFF_FULL = line_pattern(r"([A-Z]+\d+|invalid-syntax|unformatted):? ([^\n]+)\n *--> ([^\n:]+:\d+)")
_RUFF_FORMAT = line_pattern(r"Would reformat: (\S[^\n]*)$")
_RUFF_DIFF = line_pattern(r"--- (\S[^\n]*)\n\+\+\+ ")


def ruff(text: str) -> CommandResult | None:
    """Read `ruff check`, concise or full, and `ruff format --check`."""
    ends = _RUFF_END.findall(text)
    errors = sum(int(found or unformatted or 0) for found, _, unformatted, _ in ends)
    if ends and not errors:
        return CommandResult(tool="ruff", ok=True, said="all checks passed")
    first = Diagnostic()
    if concise := _RUFF_CONCISE.search(text):
        first = Diagnostic(f"{concise.group(2)} {concise.group(3)}", concise.group(1))
    elif full := _RUFF_FULL.search(text):
        first = Diagnostic(f"{full.group(1)} {full.group(2)}", full.group(3))
    elif reformat := _RUFF_FORMAT.search(text) or _RUFF_DIFF.search(text):
        first = Diagnostic("Would reformat", reformat.group(1))
    if not ends or not first.words:
        return None
    first = first._replace(words=first.words.replace("[*] ", ""))
    return problem_result("ruff", errors, first=first)


_RUFF_LEFT = line_pattern(
    r"(?:Found (\d+) errors?(?: \(\d+ fixed, (\d+) remaining\))?\.$|(\d+) files? would be reform)"
)


def ruff_end(text: str) -> CommandResult | None:
    """Read the last line of ruff, where those above it were cut off: it is not ruff's alone."""
    end = _RUFF_LEFT.search(text)
    if end is None:
        return None
    found, remaining, unformatted = end.groups()
    return problem_result("ruff", int(remaining or found or unformatted), first=Diagnostic())


_MYPY_END = line_pattern(
    r"(?:Found (\d+) errors? in \d+ files?|Success: (no issues found in \d+ source files?))"
)
_MYPY_ERROR = line_pattern(
    r"(\S[^\n:]*:\d+)(?::\d+)*: error: ([^\n]*\]|[^\n]+\n\S[^\n]*\]|[^\n]+)$"
)


def mypy(text: str) -> CommandResult | None:
    """Read mypy's errors, wrapped where they are pretty, and its last line."""
    ends = _MYPY_END.findall(text)
    if not ends:
        return None
    errors = sum(int(found or 0) for found, _ in ends)
    if not errors:
        return CommandResult(tool="mypy", ok=True, said=ends[-1][1])
    error = _MYPY_ERROR.search(text)
    first = Diagnostic(" ".join(error.group(2).split()), error.group(1)) if error else Diagnostic()
    return problem_result("mypy", errors, first=first)


_PYRIGHT_END = line_pattern(r"(\d+) errors?, (\d+) warnings?, \d+ (?:informations?|notes?)")
_PYRIGHT_ERROR = line_pattern(r" +(\S[^\n]*?:\d+):\d+ - error: ([^\n]+)$")


def pyright(text: str) -> CommandResult | None:
    """Read the errors of pyright and basedpyright, and their last line."""
    ends = _PYRIGHT_END.findall(text)
    if not ends:
        return None
    errors, warnings = sum_columns(ends)
    error = _PYRIGHT_ERROR.search(text)
    first = Diagnostic(error.group(2), error.group(1)) if error else Diagnostic()
    return problem_result("pyright", errors, warnings=warnings, first=first)


_TY_END = line_pattern(r"(?:Found \d+ diagnostics?|(All checks passed!))$")
_TY_FOUND = line_pattern(r"(error|warning)\[([\w-]+)\]: ([^\n]+)\n *--> ([^\n:]+:\d+)")


def ty(text: str) -> CommandResult | None:
    """Read the diagnostics of ty."""
    end = _TY_END.search(text)
    if end is None or end.group(1):
        return CommandResult(tool="ty", ok=True, said="all checks passed") if end else None
    found = _TY_FOUND.findall(text)
    errors = [(rule, words, place) for level, rule, words, place in found if level == "error"]
    first = Diagnostic(f"{errors[0][0]} {errors[0][1]}", errors[0][2]) if errors else Diagnostic()
    return problem_result("ty", len(errors), warnings=len(found) - len(errors), first=first)


_CODED = line_pattern(r"([^\s:][^\n:]*:\d+):\d+: ([A-Z]{1,4}\d{2,4} [^\n]+)$")
_UNCODED = line_pattern(r"([^\s:][^\n:]*:\d+):\d+:? ([^\n]+)$")


def flake8(text: str) -> CommandResult | None:
    """Read the lines of flake8, which says nothing else."""
    return _listed("flake8", _CODED, text)


def pycodestyle(text: str) -> CommandResult | None:
    """Read the lines of pycodestyle."""
    return _listed("pycodestyle", _CODED, text)


def pyflakes(text: str) -> CommandResult | None:
    """Read the lines of pyflakes, which have no codes."""
    return _listed("pyflakes", _UNCODED, text)


def _listed(tool: str, pattern: re.Pattern[str], text: str) -> CommandResult | None:
    found = pattern.findall(text)
    return (
        problem_result(tool, len(found), first=Diagnostic(found[0][1], found[0][0]))
        if found
        else None
    )


_PYLINT_FOUND = line_pattern(r"([^\s:][^\n:]*:\d+):\d+: ([A-Z]\d{4}: [^\n]+)$")
_PYLINT_END = line_pattern(r"Your code has been (rated at [\d./-]+\d)")


def pylint(text: str) -> CommandResult | None:
    """Read the messages of pylint, of which errors come first, and its mark."""
    found = _PYLINT_FOUND.findall(text)
    if found:
        place, words = min(found, key=lambda one: one[1][0] not in "EF")
        return problem_result("pylint", len(found), first=Diagnostic(words, place))
    end = _PYLINT_END.search(text)
    return CommandResult(tool="pylint", ok=True, said=end.group(1)) if end else None


_BLACK_END = line_pattern(r"((?:\d+ files? [^\n,]+(?:, )?){1,3}\.)$")
_BLACK_BAD = line_pattern(r"(?:(would reformat) (\S[^\n]*)|error: (cannot [^\n]+))$")
_BLACK_COUNT = re.compile(
    r"(\d+) files? (?:would be reformatted|(?:would fail|failed) to reformat)"
)


def black(text: str) -> CommandResult | None:
    """Read what black reformatted, would reformat, or could not parse."""
    end = _BLACK_END.search(text)
    if end is None:
        return None
    bad = sum(map(int, _BLACK_COUNT.findall(end.group(1))))
    if not bad:
        return CommandResult(tool="black", ok=True, said=end.group(1).rstrip("."))
    rows = [Diagnostic(words or broken, place) for words, place, broken in _BLACK_BAD.findall(text)]
    first = min(rows, key=lambda row: bool(row.place), default=Diagnostic())
    return problem_result("black", bad, first=first)


_ISORT_BAD = line_pattern(r"ERROR: (\S[^\n]*) (Imports are incorrectly sorted[^\n]*?)\.?$")


def isort(text: str) -> CommandResult | None:
    """Read which files isort would change."""
    return _listed("isort", _ISORT_BAD, text)


_BANDIT_FOUND = line_pattern(
    r">> Issue: \[(B\d+)[^\]\n]*\] ([^\n]+)\n(?: [^\n]*\n){1,6}? +Location: ([^\n:]+:\d+)"
)


def bandit(text: str) -> CommandResult | None:
    """Read the issues that bandit found."""
    found = _BANDIT_FOUND.findall(text)
    if not found:
        return None
    code, words, place = found[0]
    return problem_result("bandit", len(found), first=Diagnostic(f"{code} {words}", place))


PARSERS = (
    OutputParser(ruff, ("ruff",), ("Found ", "All checks passed!", "would be reformatted")),
    OutputParser(ruff_end, ("ruff",), ()),
    OutputParser(mypy, ("mypy", "dmypy"), ("Found ", "Success: no issues")),
    OutputParser(pyright, ("pyright", "basedpyright"), (" - error: ", " informations", " notes")),
    OutputParser(ty, ("ty",), (" diagnostic",)),
    OutputParser(pylint, ("pylint",), ("Your code has been rated",)),
    OutputParser(flake8, ("flake8",), (": E", ": F", ": W")),
    OutputParser(pycodestyle, ("pycodestyle",), ()),
    OutputParser(pyflakes, ("pyflakes",), ()),
    OutputParser(black, ("black",), ("would reformat ",)),
    OutputParser(isort, ("isort",), ("incorrectly sorted",)),
    OutputParser(bandit, ("bandit",), (">> Issue: [",)),
)
