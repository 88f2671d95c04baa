"""What a shell says of what it cannot start, shellcheck of scripts, git of what it will not do.

Part of interpretation (step 6). One reader a tool: text without colours in, `CommandResult` out, or
None when the tool's own words are not there. Patterns are anchored to lines and linear.
"""

from __future__ import annotations

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    CommandResult,
    Diagnostic,
    failed_result,
    line_pattern,
    problem_result,
)

_LAST_LINE = line_pattern(
    r"((?:[^\s:]*/)?(?:ba|da|fi|k|z)?sh:(?:\d+:| \d+:| \w+ \d+:)? (?!warning\b)[^\n]+"
    r"|[^\s:]*python[\d.]*(?:\.exe)?: No module named [^\n]+)\s*\Z"
)
_NOT_RECOGNISED = line_pattern(
    r"((?:[^\s:]+ ?: )?(?:The term )?'[^'\n]+' is not recognized as .*)$"
)
_CONFLICT = line_pattern(r"(CONFLICT \([^)\n]*\): [^\n]+)$")
_REFUSED = line_pattern(
    r"((?:fatal|error): [^\n]+|git: '[^\n]+' is not a git command[^\n]*"
    r"|The following paths are ignored by one of your [^\n]*| ! \[(?:remote )?rejected\][^\n]*)$"
)


_NOTHING = line_pattern(r"((?:no changes|nothing) (?:added )?to commit\b[^\n]*)$")


def not_run(text: str) -> CommandResult | None:
    """Read why a shell could not run the last program, in whatever language."""
    found = _NOT_RECOGNISED.search(text) or _LAST_LINE.search(text)
    return failed_result("", "", Diagnostic(found.group(1))) if found else None


def git(text: str) -> CommandResult | None:
    """Read what git stumbled over, or refused to do."""
    found = _CONFLICT.search(text) or _REFUSED.search(text)
    return failed_result("git", "", Diagnostic(found.group(1))) if found else None


def nothing_to_commit(text: str) -> CommandResult | None:
    """Read why git did not commit, where it is known that it did not."""
    found = _NOTHING.search(text)
    return failed_result("git", "", Diagnostic(found.group(1))) if found else None


_SHELLCHECK = line_pattern(r"In (\S+) line (\d+):\n[^\n]*\n +\^[-^]* (SC\d+) \(\w+\): ([^\n]+)$")
_SHELLCHECK_EACH = line_pattern(r" *\^[-^]* SC\d+ \(")


def shellcheck(text: str) -> CommandResult | None:
    """Read what shellcheck found."""
    found = _SHELLCHECK.search(text)
    if found is None:
        return None
    path, line, code, words = found.groups()
    first = Diagnostic(f"{code} {words}", f"{path}:{line}")
    return problem_result("shellcheck", len(_SHELLCHECK_EACH.findall(text)), first=first)


PARSERS = (
    OutputParser(shellcheck, ("shellcheck",), ("-- SC", "^ SC")),
    OutputParser(git, ("git",), (), is_raised=True),
    OutputParser(
        not_run, (), ("sh: ", "sh:1: ", ": No module ", "is not recognized as"), is_raised=True
    ),
)
