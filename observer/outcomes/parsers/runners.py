"""What starts other tools and says that they failed: package managers, task runners, git's hooks.

Part of interpretation (step 6). Their words are never the error, which stands above them; they
only prove that there was one.
"""

from __future__ import annotations

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import (
    WRAPPED,
    CommandResult,
    Diagnostic,
    failed_result,
    first_error_line,
    last_match,
    line_pattern,
    problem_result,
)

_FAILED = line_pattern(WRAPPED)
_USAGE = line_pattern(
    r"((?:error|Error|ERROR): (?:unrecognized subcommand|unexpected argument|unknown (?:command"
    r"|option|flag|argument)|unrecognized arguments?|no such (?:sub)?command|Script not found"
    r"|Module not found|Missing script|Invalid option)\b[^\n]*|unknown (?:option|flag|shorthand"
    r" flag)\b[^\n]*|Usage Error: [^\n]*)$"
)


def wrapped(text: str) -> CommandResult | None:
    """Read that what was started failed; what it complained of stands above."""
    found = _FAILED.search(text)
    if found is None:
        return None
    return failed_result(
        "", "", Diagnostic(first_error_line(text[: found.start()] or found.group()))
    )


def misused(text: str) -> CommandResult | None:
    """Read that a program did not know what it was asked for."""
    found = _USAGE.search(text)
    return failed_result("", "", Diagnostic(found.group(1))) if found else None


_HOOK = line_pattern(r"(\S[^\n]*?)\.{3,}(?:\([^)\n]*\))?(Passed|Failed|Skipped)$")
_HOOK_PLACE = line_pattern(r"- (?:hook id|exit code|duration|files were)[^\n]*$")


def pre_commit(text: str) -> CommandResult | None:
    """Read the hooks of pre-commit: which failed, and what the first of them printed."""
    hooks = list(_HOOK.finditer(text))
    bad = [hook for hook in hooks if hook.group(2) == "Failed"]
    if not bad:
        return CommandResult(tool="pre-commit", ok=True, said="all hooks passed") if hooks else None
    behind = [hook.start() for hook in hooks if hook.start() > bad[0].start()]
    section = text[bad[0].end() : behind[0] if behind else None]
    about = last_match(_HOOK_PLACE, section)
    said = section[about.end() :] if about else section
    lines = [line for line in said.split("\n") if line.strip()]
    words = first_error_line("\n" + said) or (lines[0] if lines else "hook failed")
    return problem_result("pre-commit", len(bad), first=Diagnostic(words, test=bad[0].group(1)))


PARSERS = (
    OutputParser(pre_commit, ("pre-commit",), ("...Passed\n", "...Failed\n", "...Skipped\n")),
    OutputParser(
        misused,
        (),
        ("rror: un", "rror: no such", "rror: Script not", "unknown ", "Usage Error"),
        is_raised=True,
    ),
    OutputParser(
        wrapped,
        (),
        (
            *("exited with code", "xit code ", "ELIFECYCLE", "ifecycle script", "husky - "),
            *("ecipe `", "ailed to run task", "task failed", "run failed: ", "lerna ERR!"),
            *("exit status ", "FAILED: ", "BUILD FAIL", "build stopped", ": *** "),
            "returned with error code",
        ),
        is_raised=True,
    ),
)
