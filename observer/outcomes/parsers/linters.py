"""What linters say that are not Python's: biome, oxlint, golangci-lint, gofmt, rubocop, phpstan.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

import re

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    failed_result,
    last_match,
    line_pattern,
    problem_result,
    sum_columns,
)

_BIOME_DONE = line_pattern(
    r"((?:Checked|Formatted|Linted|Fixed) \d+ files? in [\d.]+(?:[µm]?s|s)\.[^\n]*)$"
)
_BIOME_ERRORS = line_pattern(r"Found (\d+) errors?\.$")
_BIOME_WARNINGS = line_pattern(r"Found (\d+) warnings?\.$")
_BIOME_BAD = line_pattern(r" +[\u00d7✖] Some (error|warning)s were emitted while [^\n]+$")
_BIOME_HEAD = line_pattern(
    r" ?(?:at )?([^\s:]+(?::\d+)?)(?::\d+)? ([a-z]\w*(?:/\w+){0,3})(?: +[A-Z]{4,})* +━{3,}[^\n]*\n"
    r"\s*([\u00d7✖!])\s+([^\n]+)$"
)
_BIOME_SUMMARY = line_pattern(r" +- (\S+) \(\d+ errors?[^\n]*\)$")
_BIOME_CUT = line_pattern(r" +[\u00d7✖!] (?!Some \w+ were emitted)([^\n]+)$")
_BIOME_BROKE = line_pattern(r"configuration ━{3,}[^\n]*\n\s*[\u00d7✖]\s+([^\n]+)$")


def biome(text: str) -> CommandResult | None:
    """Read the reports of biome; warnings are failures where it was configured so."""
    done, errors = last_match(_BIOME_DONE, text), _BIOME_ERRORS.search(text)
    found = _BIOME_HEAD.findall(text)
    is_strict = "--error-on-warnings" in text
    worse = [one for one in found if one[2] != "!" or (is_strict and not done)]
    bad, broke = _BIOME_BAD.search(text), _BIOME_BROKE.search(text)
    if broke:
        return failed_result("biome", "biome stopped", Diagnostic(broke.group(1)))
    if not (bad or worse or (done and errors)):
        return (
            CommandResult(tool="biome", ok=True, said=done.group(1).rstrip(".")) if done else None
        )
    warnings = _BIOME_WARNINGS.search(text)
    count = int(errors.group(1)) if errors else len(worse)
    first = _biome_first(text, (worse or found)[0] if found else None)
    if count:
        return problem_result(
            "biome", count, warnings=int(warnings.group(1)) if warnings else 0, first=first
        )
    what = f"{warnings.group(1)} warnings" if warnings else f"{bad.group(1)}s" if bad else ""
    return failed_result("biome", what.removesuffix("s") if what == "1 warnings" else what, first)


def _biome_first(text: str, found: tuple[str, str, str, str] | None) -> Diagnostic:
    if found is None:
        listed, cut = _BIOME_SUMMARY.search(text), _BIOME_CUT.search(text)
        place = listed.group(1) if listed else ""
        return Diagnostic(cut.group(1) if cut else "", place)
    place, rule, _, words = found
    return Diagnostic(f"{rule}: {words}", place)


_OXLINT_END = line_pattern(r"Found (\d+) warnings? and (\d+) errors?\.$")
_OXLINT_BAD = line_pattern(r" *[\u00d7x✖] ([^\n]+)\n *[,╭][-─]+\[([^\]\n]+?:\d+):\d+\]")


def oxlint(text: str) -> CommandResult | None:
    """Read the summary of oxlint, and its first error."""
    ends = _OXLINT_END.findall(text)
    if not ends:
        return None
    warnings, errors = sum_columns(ends)
    found = _OXLINT_BAD.search(text)
    first = Diagnostic(*found.groups()) if found else Diagnostic()
    return problem_result("oxlint", errors, warnings=warnings, first=first)


_GOLANGCI_END = line_pattern(r"(\d+) issues?[.:]$")
_GOLANGCI_EACH = line_pattern(r"(\S+\.go:\d+)(?::\d+)?: ([^\n]+ \([\w-]+\))$")
_GOLANGCI_BROKE = line_pattern(r"(?:Error: |level=error msg=\"|Failed to )([^\n]+?)\"?$")


def golangci(text: str) -> CommandResult | None:
    """Read golangci-lint's issues, which older versions do not count."""
    end, found = last_match(_GOLANGCI_END, text), _GOLANGCI_EACH.findall(text)
    if end is None and not found:
        broke = _GOLANGCI_BROKE.search(text)
        return failed_result("golangci-lint", "", Diagnostic(broke.group(1))) if broke else None
    count = int(end.group(1)) if end else len(found)
    first = Diagnostic(found[0][1], found[0][0]) if found else Diagnostic()
    said = "no issues" if not count else "1 issue" if count == 1 else f"{count:,} issues"
    if not count:
        return CommandResult(tool="golangci-lint", ok=True, said=said, failed=0)
    return failed_result("golangci-lint", said, first, failed=count)


_FILE_LIST = re.compile(r"\s*(?:[\w@.+/\\-]+\.go\s*\n)*[\w@.+/\\-]+\.go\s*\Z")


def gofmt(text: str) -> CommandResult | None:
    """Read the files that gofmt would change: it lists them and ends well."""
    if not _FILE_LIST.match(text):
        return None
    files = text.split()
    return problem_result("gofmt", len(files), first=Diagnostic("not formatted", files[0]))


_RUBOCOP_END = line_pattern(
    r"\d+ files? inspected, (?:(no) offenses?|(\d+) offenses?) detected"
    r"(?:, (\d+) offenses? (?:auto-?)?corrected)?"
)
_RUBOCOP_BAD = line_pattern(
    r"([^\s:][^\n:]*:\d+):\d+: ([CWEFRI]: (?!\[(?:Auto)?[Cc]orrected\])[^\n]+)$"
)


def rubocop(text: str) -> CommandResult | None:
    """Read the offenses of rubocop and standard; corrected ones are none."""
    end = last_match(_RUBOCOP_END, text)
    if end is None:
        return None
    left = int(end.group(2) or 0) - int(end.group(3) or 0)
    found = _RUBOCOP_BAD.search(text)
    first = Diagnostic(found.group(2), found.group(1)) if found else Diagnostic()
    return problem_result("rubocop", left, first=first)


_PHPSTAN_END = line_pattern(r" *\[(?:OK\] (No errors)|ERROR\] Found (\d+) errors?)")
_PHPSTAN_FILE = line_pattern(r" +Line +(\S+\.php)[^\n]*\n[ -]+\n +(\d+) +([^\n]+)$")


def phpstan(text: str) -> CommandResult | None:
    """Read the table of phpstan, and how it ends."""
    end = last_match(_PHPSTAN_END, text)
    if end is None:
        return None
    found = _PHPSTAN_FILE.search(text)
    first = Diagnostic(found.group(3).strip(), f"{found[1]}:{found[2]}") if found else Diagnostic()
    return problem_result("phpstan", int(end.group(2) or 0), first=first)


PARSERS = (
    OutputParser(biome, ("biome",), ("━━━ \n", "━━━\n", " were emitted while ", " fixes applied.",
                               " file in ", " files in ")),
    OutputParser(oxlint, ("oxlint",), (" warnings and ", " warning and ")),
    OutputParser(golangci, ("golangci-lint",), (" issues:\n", " issues.", " issue:\n")),
    OutputParser(gofmt, ("gofmt", "goimports", "gofumpt"), ()),
    OutputParser(rubocop, ("rubocop", "standardrb"), (" inspected, ",)),
    OutputParser(phpstan, ("phpstan",), ("[OK] No errors", "[ERROR] Found ")),
)  # fmt: skip
