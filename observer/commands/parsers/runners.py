"""What starts other tools says of them: shells, git, package managers, task runners, git's hooks.

Part of interpretation (step 6). Runners of several tasks (turbo, nx, tox, nox) only count which of
them failed; what these complained of stands above, and is for the tools' own readers. So it is with
the words of package managers, which are never the error, but prove that there was one.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from observer.core.text import counted

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
"""What git stumbled over, or refused to do."""
NOTHING_TO_COMMIT = Format(
    "git",
    line_pattern(r"(?P<words>(?:no changes|nothing) (?:added )?to commit\b[^\n]*)$"),
    stopped="",
)
"""Why git did not commit, where it is known that it did not."""
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
"""That a program did not know what it was asked for."""

COUNTING = frozenset({"turbo", "nx", "tox", "nox"})
"""The tools that the results of these readers are signed by."""

_TURBO_END = line_pattern(r" *Tasks: +(\d+) successful, (\d+) total$")


def turbo(text: str) -> CommandResult | None:
    """Read how many tasks turbo got through."""
    end = last_match(_TURBO_END, text)
    if end is None:
        return None
    done, every = map(int, end.groups())
    if done == every:
        return CommandResult(tool="turbo", ok=True, said=f"{done} tasks")
    return failed_result("turbo", f"{every - done} of {every} tasks failed", Diagnostic())


_NX_END = line_pattern(
    r"\s*NX +(?:(Successfully ran targets?)|Ran targets?|Running targets? [^\n]* failed)\b[^\n]*$"
)
_NX_NOTHING = line_pattern(r"\s*NX +No tasks were run\b")
_NX_COUNT = line_pattern(r"\s*\u2716 +(\d+)/(\d+) (?:targets? )?failed")
_NX_BAD = line_pattern(r"\s*- (?:nx run )?(\S+:\S+)$")


def nx(text: str) -> CommandResult | None:
    """Read how nx ended: what it ran, and which targets of that failed."""
    end = last_match(_NX_END, text)
    if end is None:
        return (
            CommandResult(tool="nx", said="no tasks were run") if _NX_NOTHING.search(text) else None
        )
    if end.group(1):
        return CommandResult(tool="nx", ok=True, said="all targets ran")
    bad, count = _NX_BAD.search(text, end.end()), _NX_COUNT.search(text, end.end())
    said = f"{count[1]} of {count[2]} targets failed" if count else "a target failed"
    return failed_result("nx", said, Diagnostic(f"{bad[1]} failed" if bad else ""))


_TOX_ROW = line_pattern(
    r"(?:ERROR: )? {2,3}(\S+): (OK|FAIL|commands succeeded|commands failed|Invocation)[^\n]*$"
)
_NOX_ROW = line_pattern(
    r"nox > (?:Session|\*) (\S[^\n]*?)(?: was|:)? (success|failed|aborted)[^\n]*$"
)


def tox(text: str) -> CommandResult | None:
    """Read which of tox's environments failed."""
    rows = {name: said in {"OK", "commands succeeded"} for name, said in _TOX_ROW.findall(text)}
    return _of_rows("tox", "environment", rows)


def nox(text: str) -> CommandResult | None:
    """Read which of nox's sessions failed."""
    rows = {name: said == "success" for name, said in _NOX_ROW.findall(text)}
    return _of_rows("nox", "session", rows)


def _of_rows(tool: str, noun: str, rows: Mapping[str, bool]) -> CommandResult | None:
    every = counted(len(rows), noun)
    bad = [name for name, is_ok in rows.items() if not is_ok]
    if not bad:
        return CommandResult(tool=tool, ok=True, said=f"{every} passed") if rows else None
    said = f"{len(bad)} of {every} failed" if len(rows) > 1 else f"{every} failed"
    return failed_result(tool, said, Diagnostic(f"{bad[0]} failed"))


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
    OutputParser(turbo, ("turbo",), (" successful, ",)),
    OutputParser(nx, ("nx",), (" NX ",)),
    OutputParser(tox, ("tox",), ("congratulations :)", "evaluation failed :(", ": commands ")),
    OutputParser(nox, ("nox",), ("nox > Session ",)),
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
            *("exited with code", "xit code ", "ELIFECYCLE", "ifecycle script", "husky - "),
            *("ecipe `", "ailed to run task", "task failed", "run failed: ", "lerna ERR!"),
            *("exit status ", "FAILED: ", "BUILD FAIL", "build stopped", ": *** "),
            "returned with error code",
        ),
        is_raised=True,
    ),
)
