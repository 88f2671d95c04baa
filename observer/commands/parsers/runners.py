"""What starts other tools says of them: shells, git, package managers, git's hooks."""

from __future__ import annotations

from observer.commands.parsers.parser import Format, OutputParser, in_turn
from observer.commands.result import (
    WRAPPED,
    CommandResult,
    Diagnostic,
    failed_result,
    first_error_line,
    last_match,
    line_pattern,
    problem_result,
)

_SHELL = Format(
    "",
    line_pattern(r"(?P<words>(?:[^\s:]+ ?: )?(?:The term )?'[^'\n]+' is not recognized as .*)$"),
    stopped="",
)
_SHELL_LAST = Format(
    "",
    line_pattern(
        r"(?P<words>(?:[^\s:]*/)?(?:ba|da|fi|k|z)?sh:(?:\d+:| \d+:| \w+ \d+:)? (?!warning\b)[^\n]+"
        r"|[^\s:]*python[\d.]*(?:\.exe)?: No module named [^\n]+)\s*\Z"
    ),
    stopped="",
)
GIT = Format(
    "git",
    line_pattern(
        r"(?P<words>(?:fatal|error): [^\n]+|git: '[^\n]+' is not a git command[^\n]*"
        r"|CONFLICT \([^)\n]*\): [^\n]+|The following paths are ignored by one of your [^\n]*"
        r"| ! \[(?:remote )?rejected\][^\n]*)$"
    ),
    first=line_pattern(r"(?P<words>CONFLICT \([^)\n]*\): [^\n]+)$"),
    stopped="",
)
NOTHING_TO_COMMIT = Format(
    "git",
    line_pattern(r"(?P<words>(?:no changes|nothing) (?:added )?to commit\b[^\n]*)$"),
    stopped="",
)
MISUSED = Format(
    "",
    line_pattern(
        r"(?P<words>(?:error|Error|ERROR): (?:unrecognized subcommand|unexpected argument"
        r"|unknown (?:command|option|flag|argument)|unrecognized arguments?|no such (?:sub)?command"
        r"|Script not found|Module not found|Missing script|Invalid option)\b[^\n]*"
        r"|unknown (?:option|flag|shorthand flag)\b[^\n]*|Usage Error: [^\n]*)$"
    ),
    stopped="",
)


_NO_TASKS = line_pattern(r"\s*NX +(No tasks were run)\b")


def no_tasks(text: str) -> CommandResult | None:
    """Read that nx had nothing to run, which is neither a failure nor a pass."""
    found = _NO_TASKS.search(text)
    return CommandResult(tool="nx", said=found[1]) if found else None


_FAILED = line_pattern(WRAPPED)


def wrapped(text: str) -> CommandResult | None:
    """Read that what was started failed; what it complained of stands above."""
    found = _FAILED.search(text)
    if found is None:
        return None
    return failed_result(
        "", "", Diagnostic(first_error_line(text[: found.start()] or found.group()))
    )


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
    first = Diagnostic(words, test=bad[0].group(1))
    return problem_result("pre-commit", len(bad), first=first, is_counted=False)


PARSERS = (
    OutputParser(GIT.read, ("git",), (), is_raised=True),
    OutputParser(
        in_turn(_SHELL.read, _SHELL_LAST.read),
        (),
        ("sh: ", "sh:1: ", ": No module ", "is not recognized as"),
        is_raised=True,
    ),
    OutputParser(no_tasks, ("nx",), (" NX ",)),
    OutputParser(pre_commit, ("pre-commit",), ("...Passed\n", "...Failed\n", "...Skipped\n")),
    OutputParser(
        MISUSED.read,
        (),
        ("rror: un", "rror: no such", "rror: Script not", "unknown ", "Usage Error"),
        is_raised=True,
    ),
    OutputParser(
        wrapped,
        (),
        (
            "exited with code",
            "xit code ",
            "ELIFECYCLE",
            "ifecycle script",
            "husky - ",
            "ecipe `",
            "ailed to run task",
            "task failed",
            "run failed: ",
            "lerna ERR!",
            "exit status ",
            "FAILED: ",
            "BUILD FAIL",
            "build stopped",
            ": *** ",
            "returned with error code",
        ),
        is_raised=True,
    ),
)
