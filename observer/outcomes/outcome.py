"""What a command's output says about it: passed or failed, how many, what first.

Part of interpretation (step 6). The parsers of tools are in `parsers`; this module chooses among
them, and weighs their word against the exit code.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from observer.core.events import Command
from observer.core.text import one_line
from observer.outcomes import not_started, readings, visible_output
from observer.outcomes.exit_codes import (
    ENDINGS,
    EXIT_LINE,
    ended,
    own_exit_code,
    reported,
    stopped_by,
)
from observer.outcomes.parsers import PARSERS
from observer.outcomes.readings import failures_among
from observer.outcomes.result import (
    LINE_START,
    CommandResult,
    Diagnostic,
    first_error_line,
    is_heading,
    line_pattern,
)
from observer.outcomes.signature import signature
from observer.outcomes.visible_output import SAID_NOTHING, VisibleOutput, plain_output
from observer.shell.command_line import CommandLine, leading_commands, simple_commands
from observer.shell.exit_status import only_answers
from observer.shell.runners import program_name

_LAST_CHARS = 2000
_NOT_THERE = "No such file or directory"
_SUMMARY = line_pattern(
    r"\W*(?:Found )?[1-9]\d* (?:\w+ )?(?:errors?|fail\w*|problems?|issues?)\b[^\n]*$"
    r"|\W*Some errors were emitted [^\n]*$"
)
_STOPPING = frozenset({124, 137, 143})
"""Exit codes by which somebody else stopped the command, and which it did not bring about."""


def command_result(command: Command, line: CommandLine, root: str = "") -> CommandResult:
    """Return how a command went, from its exit code and what it printed.

    Places inside the folder `root` are given relative to it.
    """
    result = _read(command, line)
    folder = f"{root.rstrip('/')}/"
    if root and folder in result.first_error:
        return replace(result, first_error=result.first_error.replace(folder, ""))
    return result


def _read(command: Command, line: CommandLine) -> CommandResult:
    if never := not_started.unexecuted_result(command):
        return never
    ok = ended(command)
    if ok is False and own_exit_code(command) in {1, None} and only_answers(command.command):
        is_diff = "diff" in (line.tool, *line.head.split()[1:2])
        return CommandResult(ok=True, said="differences found" if is_diff else "nothing found")
    text = LINE_START + visible_output.strip_task_prefixes(plain_output(command.output))
    if line.is_routine and ok is not False:
        return _looked(command, line, text)
    if not_started.is_interrupted(command):
        return _plain_words(text, ok=None)
    *before, text = _runs(text, _repetitions(command.command))
    seen = visible_output.visible_output_of(command.command)
    result = _of_run(text, line, stopped_by(command), seen, ok=ok)
    earlier = _of_run(before[-1], line, None, seen, ok=None) if before else result
    if not before or earlier.said == result.said:
        return result
    return replace(result, said=f"{result.said}; the run before it: {earlier.said}")


def _looked(command: Command, line: CommandLine, text: str) -> CommandResult:
    """Return the result of what only looks: who finds nothing has not failed."""
    ok = reported(command)
    complained = readings.own_error(text, line.tools) if ended(command) is None else None
    if complained and _NOT_THERE not in complained.first_error:
        return complained
    if ok is False and _last_words(text):
        return _plain_words(text, ok=False)
    return CommandResult(ok=True, said="nothing found") if ok is False else CommandResult(ok=ok)


def _repetitions(command: str) -> int:
    """Return how often a line begins with the same check, the last time of no less than before.

    `pytest; pytest --lf` is 2, `pytest a; pytest b` and `DB=a pytest; DB=b pytest` are 1.
    """
    parts = simple_commands(command)
    able = [part for part in leading_commands(parts) if not part.looks]
    same = [part for part in able if program_name(part.words[0]) == program_name(able[0].words[0])]
    if not same or len({part.wrapping for part in same}) > 1:
        return 1
    if any(part.words[0] == "cd" for part in parts[parts.index(same[0]) :]):
        return 1
    *before, end = [{word for word in part.words if word[0] != "-"} for part in same]
    return len(same) if all(end <= one for one in before) else 1


def _runs(text: str, times: int) -> list[str]:
    """Part the outputs of a check that was run several times; the last run is the one that counts.

    Where their number is another than the command line's, it is unknown which is whose.
    """
    for reader in PARSERS if times > 1 else ():
        if reader.end and any(mark in text for mark in reader.marks):
            cuts = [end.end() for end in reader.end.finditer(text)]
            if len(cuts) == times:
                return [text[a:b] for a, b in itertools.pairwise((0, *cuts[:-1], len(text)))]
    return [text]


def _of_run(
    text: str,
    line: CommandLine,
    ending: int | None,
    seen: VisibleOutput,
    *,
    ok: bool | None,
) -> CommandResult:
    found = readings.parse_output(text, line, seen, ok=ok) if ok is None or text.strip() else []
    is_named = any(one.first_error or one.failing for one in failures_among(found))
    if ok is False and ending is not None and not is_named:
        return _ended(ending, found, text)
    return _weighed(found, text, ok=ok) if found else _plain_words(text, ok=ok)


def _weighed(found: list[CommandResult], text: str, *, ok: bool | None) -> CommandResult:
    """Put the words of several tools into one result; a failure outweighs a clean exit code.

    `pytest | tail` ends with the exit code of `tail`, so counts of failures win over success.
    """
    failed = [_with_words(one, text) for one in failures_among(found)]
    counted = [result for result in found if result.passed is not None]
    chief = (failed or counted or found)[0]
    if ok is False and not failed:
        words = _plain_words(text, ok=False) if chief.passed is None else CommandResult()
        chief = replace(chief, ok=False, first_error=words.first_error, signature=words.signature)
    if len(found) == 1:
        return chief
    said = "; ".join(f"{result.tool}: {result.said}" for result in found[:4] if result.said)
    return replace(chief, said=said)


def _with_words(result: CommandResult, text: str) -> CommandResult:
    """Return a failure with the line that counts it where no other words of it are left."""
    summary = None if result.first_error else _SUMMARY.search(text)
    if summary is None or is_heading(summary.group()):
        return result
    return replace(result, first_error=str(Diagnostic(summary.group().strip())))


def _ended(code: int, found: Sequence[CommandResult], text: str) -> CommandResult:
    """Return the result of a command that was stopped: what it printed shows how far it came."""
    ending = ENDINGS[code]
    reached = one_line(_last_words(text), 160)
    words = Diagnostic(f"{ending}; its last words: {reached}" if reached else "")
    chief = next(iter(found), CommandResult(said=ending))
    return replace(
        chief,
        ok=False,
        first_error=str(words),
        signature=signature(ending) if reached else "",
        is_cut_off=code in _STOPPING,
    )


def _plain_words(text: str, *, ok: bool | None) -> CommandResult:
    """Return the result of a tool without a parser: its first error line, or its last line."""
    if ok is False and (said := first_error_line(text)):
        diagnostic = Diagnostic(said)
        return CommandResult(ok=False, first_error=str(diagnostic), signature=diagnostic.signature)
    if ok is False:
        last = _last_words(text, lambda line: not is_heading(line))
        return CommandResult(ok=False, first_error=str(Diagnostic(last)))
    return CommandResult(ok=ok, said=one_line(_last_words(text), 160))


def _last_words(text: str, says: Callable[[str], bool] = bool) -> str:
    for line in reversed(text[-_LAST_CHARS:].split("\n")):
        is_own = not (EXIT_LINE.match(line) or not_started.TIMED_OUT.match(line))
        if is_own and line.strip().lower() not in SAID_NOTHING and says(line):
            return line
    return ""
