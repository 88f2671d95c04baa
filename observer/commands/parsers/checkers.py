"""What checkers and formatters say: of Python, JavaScript, Go, Ruby, PHP."""

from __future__ import annotations

import re

from observer.commands.parsers.parser import Format, OutputParser, diagnostic, in_turn
from observer.commands.result import (
    CommandResult,
    Diagnostic,
    failed_result,
    last_match,
    line_pattern,
    problem_result,
)

_RUFF_END = line_pattern(
    r"Found (?:\d+ errors? \(\d+ fixed, )?(\d+)(?: errors?\.| remaining\))|(All checks passed!)$"
    r"|(\d+) files? would be reformatted|(\d+ files? (?:already formatted|left unchanged))"
)
_RUFF_FIRST = (
    line_pattern(
        r"(?P<place>\S[^\n:]*:\d+):\d+: (?P<code>[A-Z]+\d+|SyntaxError|invalid-syntax):?"
        r" (?P<words>[^\n]+)$"
    ),
    line_pattern(
        r"(?P<code>[A-Z]+\d+|invalid-syntax|unformatted):? (?P<words>[^\n]+)\n *-->"
        r" (?P<place>[^\n:]+:\d+)"
    ),
    line_pattern(r"(?P<words>Would reformat): (?P<place>\S[^\n]*)$"),
    line_pattern(r"--- (?P<place>\S[^\n]*)\n\+\+\+ "),
)


def ruff(text: str) -> CommandResult | None:
    """Read `ruff check`, concise or full, and `ruff format --check`."""
    ends = _RUFF_END.findall(text)
    errors = sum(int(found or unformatted or 0) for found, _, unformatted, _ in ends)
    if ends and not errors:
        return CommandResult(tool="ruff", ok=True, said="all checks passed")
    found = next(filter(None, (one.search(text) for one in _RUFF_FIRST)), None)
    if not ends or found is None:
        return None
    first = diagnostic(found)
    words = first.words.replace("[*] ", "") or "Would reformat"
    return problem_result("ruff", errors, first=first._replace(words=words))


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


_CODED = line_pattern(r"(?P<place>[^\s:][^\n:]*:\d+):\d+: (?P<words>[A-Z]{1,4}\d{2,4} [^\n]+)$")
_BLACK = Format(
    "black",
    line_pattern(
        r"(?:(?P<words>would reformat) (?P<place>\S[^\n]*)|error: (?P<words2>cannot [^\n]+))$"
    ),
    line_pattern(
        r"(?:(?P<errors>\d+) files? would be reformatted(?:, \d+ files? would be left unchanged)?"
        r"(?:, (?P<errors2>\d+) files? would fail to reformat)?"
        r"|(?:\d+ files? [a-z ]+, )*(?P<errors3>\d+) files? (?:failed|would fail) to reformat"
        r"|(?P<fine>(?:\d+ files? [^\n,.]+(?:, )?){1,3}))\.$"
    ),
)


_BIOME_DONE = line_pattern(
    r"((?:Checked|Formatted|Linted|Fixed) \d+ files? in [\d.]+(?:[µm]?s|s)\.[^\n]*)$"
)
_BIOME_ERRORS = line_pattern(r"Found (\d+) errors?\.$")
_BIOME_WARNINGS = line_pattern(r"Found (\d+) warnings?\.$")
_BIOME_BAD = line_pattern(r" +[\u00d7✖] Some (error|warning)s were emitted while [^\n]+$")
_BIOME_HEAD = line_pattern(
    r" ?(?:at )?(?P<place>[^\s:]+(?::\d+)?)(?::\d+)? (?P<kind>[a-z]\w*(?:/\w+){0,3})"
    r"(?: +[A-Z]{4,})* +━{3,}[^\n]*\n\s*(?P<sign>[\u00d7✖!])\s+(?P<words>[^\n]+)$"
)
_BIOME_SUMMARY = line_pattern(r" +- (?P<place>\S+) \(\d+ errors?[^\n]*\)$")
_BIOME_CUT = line_pattern(r" +[\u00d7✖!] (?!Some \w+ were emitted)(?P<words>[^\n]+)$")
_BIOME_BROKE = line_pattern(r"configuration ━{3,}[^\n]*\n\s*[\u00d7✖]\s+(?P<words>[^\n]+)$")


def biome(text: str) -> CommandResult | None:
    """Read the reports of biome; warnings are failures where it was configured so."""
    done, errors = last_match(_BIOME_DONE, text), _BIOME_ERRORS.search(text)
    found = list(_BIOME_HEAD.finditer(text))
    is_strict = "--error-on-warnings" in text
    worse = [one for one in found if one["sign"] != "!" or (is_strict and not done)]
    bad, broke = _BIOME_BAD.search(text), _BIOME_BROKE.search(text)
    if broke:
        return failed_result("biome", "biome stopped", diagnostic(broke))
    if not (bad or worse or (done and errors)):
        return (
            CommandResult(tool="biome", ok=True, said=done.group(1).rstrip(".")) if done else None
        )
    warnings = _BIOME_WARNINGS.search(text)
    count = int(errors.group(1)) if errors else len(worse)
    first = diagnostic((worse or found)[0]) if found else diagnostic(_BIOME_CUT.search(text))
    first = first._replace(place=first.place or diagnostic(_BIOME_SUMMARY.search(text)).place)
    if count:
        return problem_result(
            "biome",
            count,
            warnings=int(warnings.group(1)) if warnings else 0,
            first=first,
            is_counted=errors is not None,
        )
    what = f"{warnings.group(1)} warnings" if warnings else f"{bad.group(1)}s" if bad else ""
    return failed_result("biome", what.removesuffix("s") if what == "1 warnings" else what, first)


_GOLANGCI = Format(
    "golangci-lint",
    line_pattern(r"(?P<place>\S+\.go:\d+)(?::\d+)?: (?P<words>[^\n]+ \([\w-]+\))$"),
    total=line_pattern(r"(?P<errors>\d+) issues?[.:]$"),
)
_GOLANGCI_BROKE = Format(
    "golangci-lint",
    line_pattern(r"(?:Error: |level=error msg=\"|Failed to )(?P<words>[^\n]+?)\"?$"),
    stopped="",
)
_FILE_LIST = re.compile(r"\s*(?:[\w@.+/\\-]+\.go\s*\n)*[\w@.+/\\-]+\.go\s*\Z")


def gofmt(text: str) -> CommandResult | None:
    """Read the files that gofmt would change: it lists them and ends well."""
    if not _FILE_LIST.match(text):
        return None
    files = text.split()
    first = Diagnostic("not formatted", files[0])
    return problem_result("gofmt", len(files), first=first, is_counted=False)


_ESLINT = Format(
    "eslint",
    line_pattern(
        r"(?:(?P<path>/\S[^\n]*|[A-Za-z]:\\[^\n]*|\S+\.\w+)\n"
        r"(?: +\d+:\d+ +warning [^\n]*\n)*+ +(?P<line>\d+)| +\d+):\d+ +error +(?P<words>\S[^\n]*)$"
    ),
    line_pattern(r"✖ \d+ problems? \((?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?\)"),
)
_ESLINT_BROKE = Format(
    "eslint",
    line_pattern(r"Oops! Something went wrong! :\(\n+ESLint: [^\n]*\n+(?P<words>\S[^\n]*)$"),
    stopped="eslint stopped",
)
_PRETTIER_END = line_pattern(
    r"(?:\[warn\] Code style issues (?:found in (\d+|the above) files?|were)"
    r"|(All matched files use Prettier code style))"
)
_PRETTIER_BROKE = line_pattern(
    r"\[error\] (?:(?P<path>[^\s:]+): )?(?P<words>[^\n]+?)(?: \((?P<line>\d+):\d+\))?$"
)
_PRETTIER_ROW = line_pattern(r"\[warn\] (\S+)$")


def prettier(text: str) -> CommandResult | None:
    """Read which files prettier would change or could not parse."""
    if broke := _PRETTIER_BROKE.search(text):
        return failed_result("prettier", "prettier stopped", diagnostic(broke))
    end = _PRETTIER_END.search(text)
    if end is None or end.group(2):
        return (
            CommandResult(tool="prettier", ok=True, said="all files are formatted") if end else None
        )
    rows = _PRETTIER_ROW.findall(text)
    first = Diagnostic("code style issues", "".join(rows[:1]))
    count = int(end.group(1)) if (end.group(1) or "").isdecimal() else 0
    return problem_result(
        "prettier", count or max(len(rows), 1), first=first, is_counted=bool(count)
    )


_MYPY = Format(
    "mypy",
    line_pattern(
        r"(?P<place>\S[^\n:]*:\d+)(?::\d+)*: error: (?P<words>[^\n]*\]|[^\n]+\n\S[^\n]*\]|[^\n]+)$"
    ),
    line_pattern(
        r"(?:Found (?P<errors>\d+) errors? in \d+ files?"
        r"|Success: (?P<fine>no issues found in \d+ source files?))"
    ),
)
_PYRIGHT = Format(
    "pyright",
    line_pattern(r" +(?P<place>\S[^\n]*?:\d+):\d+ - error: (?P<words>[^\n]+)$"),
    line_pattern(
        r"(?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?, \d+ (?:informations?|notes?)"
    ),
)
_TY = Format(
    "ty",
    line_pattern(r"error\[(?P<code>[\w-]+)\]: (?P<words>[^\n]+)\n *--> (?P<place>[^\n:]+:\d+)"),
    line_pattern(r"(?:Found \d+ diagnostics?|(?P<fine>All checks passed!))$"),
    fine="all checks passed",
)
_PYFLAKES = Format(
    "pyflakes", line_pattern(r"(?P<place>[^\s:][^\n:]*:\d+):\d+:? (?P<words>[^\n]+)$")
)
_PYLINT = Format(
    "pylint",
    line_pattern(r"(?P<place>[^\s:][^\n:]*:\d+):\d+: (?P<words>[A-Z]\d{4}: [^\n]+)$"),
    first=line_pattern(r"(?P<place>[^\s:][^\n:]*:\d+):\d+: (?P<words>[EF]\d{4}: [^\n]+)$"),
    done=line_pattern(r"Your code has been (?P<fine>rated at [\d./-]+\d)"),
)
_OXLINT = Format(
    "oxlint",
    line_pattern(r" *[\u00d7x✖] (?P<words>[^\n]+)\n *[,╭][-─]+\[(?P<place>[^\]\n]+?:\d+):\d+\]"),
    line_pattern(r"Found (?P<warnings>\d+) warnings? and (?P<errors>\d+) errors?\.$"),
)
_RUBOCOP = Format(
    "rubocop",
    line_pattern(
        r"(?P<place>[^\s:][^\n:]*:\d+):\d+:"
        r" (?P<words>[CWEFRI]: (?!\[(?:Auto)?[Cc]orrected\])[^\n]+)$"
    ),
    line_pattern(
        r"\d+ files? inspected, (?:no offenses?|(?P<errors>\d+) offenses?) detected"
        r"(?:, (?P<mended>\d+) offenses? (?:auto-?)?corrected)?"
    ),
    last=True,
)
_PHPSTAN = Format(
    "phpstan",
    line_pattern(r" +Line +(?P<path>\S+\.php)[^\n]*\n[ -]+\n +(?P<line>\d+) +(?P<words>[^\n]+)$"),
    line_pattern(r" *\[(?:OK\] No errors|ERROR\] Found (?P<errors>\d+) errors?)"),
    last=True,
)
_TSC = Format(
    "tsc",
    line_pattern(
        r"(?P<path>[^\s(:][^\n(:]*)(?:\((?P<line>\d+),\d+\)|:(?P<line2>\d+):\d+)(?: -|:)"
        r" error (?P<words>TS\d+: [^\n]*)$"
    ),
    total=line_pattern(r"Found (?P<errors>\d+) errors? in "),
)

PARSERS = (
    OutputParser(biome, ("biome",), ("━━━ \n", "━━━\n", " were emitted while ", " fixes applied.",
                               " file in ", " files in ")),
    OutputParser(_OXLINT.read, ("oxlint",), (" warnings and ", " warning and ")),
    OutputParser(in_turn(_GOLANGCI.read, _GOLANGCI_BROKE.read), ("golangci-lint",),
                 (" issues:\n", " issues.", " issue:\n")),
    OutputParser(gofmt, ("gofmt", "goimports", "gofumpt"), ()),
    OutputParser(_RUBOCOP.read, ("rubocop", "standardrb"), (" inspected, ",)),
    OutputParser(_PHPSTAN.read, ("phpstan",), ("[OK] No errors", "[ERROR] Found ")),
    OutputParser(ruff, ("ruff",), ("Found ", "All checks passed!", "would be reformatted")),
    OutputParser(ruff_end, ("ruff",), ()),
    OutputParser(_MYPY.read, ("mypy", "dmypy"), ("Found ", "Success: no issues")),
    OutputParser(_PYRIGHT.read, ("pyright", "basedpyright"),
                 (" - error: ", " informations", " notes")),
    OutputParser(_TY.read, ("ty",), (" diagnostic",)),
    OutputParser(_PYLINT.read, ("pylint",), ("Your code has been rated",)),
    OutputParser(Format("flake8", _CODED).read, ("flake8",), (": E", ": F", ": W")),
    OutputParser(Format("pycodestyle", _CODED).read, ("pycodestyle",), ()),
    OutputParser(_PYFLAKES.read, ("pyflakes",), ()),
    OutputParser(_BLACK.read, ("black",), ("would reformat ",)),
    OutputParser(_TSC.read, ("tsc",), ("error TS",)),
    OutputParser(in_turn(_ESLINT.read, _ESLINT_BROKE.read), ("eslint",), ("✖ ", "Oops! Something")),
    OutputParser(prettier, ("prettier",), ("[warn] Code style", "Prettier code style")),
)  # fmt: skip
