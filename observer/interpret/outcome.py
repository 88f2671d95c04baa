"""What a command's output says about it: passed or failed, how many, what first.

Part of interpretation (step 6). The tools' own readers are `testers` and `checkers`; this module
chooses among them, and weighs their word against the exit code. A new tool is a function there
and a row in `READERS`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from observer.events import Command
from observer.interpret import checkers, testers
from observer.interpret.commandline import Line
from observer.interpret.signature import signature
from observer.interpret.verdict import LINE_START, Verdict
from observer.interpret.wording import one_line

HEAD_CHARS = 12_000
TAIL_CHARS = 20_000
"""How much of an output is looked at: its beginning, and its end where summaries stand."""
_LINE_CHARS = 500
_LAST_CHARS = 2000
_TOLD_CHARS = 4000


Read = Callable[[str], Verdict | None]


class Reader(NamedTuple):
    """A tool's reader; one of `marks` stands in its output whoever started it (make, npm, tox)."""

    read: Read
    tools: tuple[str, ...]
    marks: tuple[str, ...]


READERS = (
    Reader(testers.pytest, ("pytest", "py.test"), (" passed", " failed", " error", "no tests ran")),
    Reader(testers.unittest, ("unittest",), ("\nRan ",)),
    Reader(testers.jest, ("jest",), ("Tests: ",)),
    Reader(testers.vitest, ("vitest",), (" Tests ",)),
    Reader(testers.mocha, ("mocha",), (" passing",)),
    Reader(testers.node, (), ("# pass ", "\u2139 pass ")),
    Reader(testers.go_test, ("go",), ("--- FAIL", "ok  \t", "FAIL\t")),
    Reader(testers.cargo_test, ("cargo",), ("test result: ",)),
    Reader(checkers.tsc, ("tsc",), ("error TS",)),
    Reader(checkers.eslint, ("eslint",), ("✖ ",)),
    Reader(checkers.ruff, ("ruff",), ("Found ", "All checks passed!")),
    Reader(checkers.mypy, ("mypy",), ("Found ", "Success: no issues")),
    Reader(checkers.rustc, ("cargo", "rustc"), ("error[E", "could not compile")),
    Reader(checkers.cc, ("gcc", "cc", "clang", "g++"), ("error: ", "undefined ref", "make: ***")),
    Reader(checkers.go_build, ("go", "gofmt"), (".go:",)),
    Reader(checkers.pip, ("pip", "pip3", "uv"), ("Successfully ",)),
    Reader(checkers.traceback, (), ("Traceback (", "\n    at ", "panic")),
    Reader(checkers.npm, (), ("npm error", "npm ERR!", " packages", "up to date")),
)
_BY_TOOL = {
    tool: tuple(reader.read for reader in READERS if tool in reader.tools)
    for reader in READERS
    for tool in reader.tools
}
_BY_MARK = tuple((mark, reader.read) for reader in READERS for mark in reader.marks)

_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_RAISED = ("python", "thrown", "panic")
_EXIT_LINE = re.compile(r"^(?:Exit [Cc]ode:? ?|exit status )(-?\d+)\s*$", re.MULTILINE)
_TROUBLE = re.compile(
    r"\b(?:error|fatal|failed|failure|exception|cannot|can't|not found|no such|denied|refused)\b",
    re.IGNORECASE,
)
_SAID_NOTHING = frozenset(
    {"", "(no output)", "no output", "tool ran without output or errors", "(empty)", "output:"}
)
_NO_MATCH_IS_ONE = frozenset({"grep", "egrep", "rg", "ag", "diff", "cmp", "test", "[", "pgrep"})


def read(command: Command, line: Line) -> Verdict:
    """Say how a command went, from its exit code and what it printed."""
    verdict = _read(command, line)
    return replace(verdict, signature=_signature(verdict)) if verdict.first_error else verdict


def _signature(verdict: Verdict) -> str:
    test = "".join(verdict.failing[:1])
    return signature(verdict.first_error.removeprefix(test).removeprefix(" - "), test)


def _read(command: Command, line: Line) -> Verdict:
    code = exit_code_of(command)
    told = None if code is None else code == 0
    if command.failed is not None:
        told = not command.failed
    if code == 1 and line.tool in _NO_MATCH_IS_ONE:
        return Verdict(
            ok=True, said="differences found" if "diff" in line.tool else "nothing found"
        )
    if line.is_routine and told is not False:
        return Verdict(ok=told)
    text = LINE_START + plain(command.output)
    if command.interrupted:
        return _plain_words(text, ok=None)
    found = _verdicts(text, line) if command.output else []
    if told:
        # A program that ended well may print or log the traceback of an error it has handled.
        found = [verdict for verdict in found if verdict.tool not in _RAISED]
    return _weighed(found, told) if found else _plain_words(text, ok=told)


def exit_code_of(command: Command) -> int | None:
    """Return the exit code the client told, or the one that the output names in a line."""
    if command.exit_code is not None or not command.output:
        return command.exit_code
    for part in (command.output[:80], command.output[-80:]):
        if "xit" in part and (match := _EXIT_LINE.search(part)):
            return int(match.group(1)[:9])
    return None


def plain(output: str) -> str:
    """Return the head and tail of an output without colours, carriage returns and long lines."""
    if len(output) > HEAD_CHARS + TAIL_CHARS:
        output = f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    if "\x1b" in output:
        output = _COLOUR.sub("", output)
    if "\r" in output:
        lines = output.replace("\r\n", "\n").split("\n")
        output = "\n".join(line.rpartition("\r")[2] for line in lines)
    if len(output) > _LINE_CHARS:
        lines = output.split("\n")
        if max(map(len, lines)) > _LINE_CHARS:
            output = "\n".join(line[:_LINE_CHARS] for line in lines)
    return output


def told_lines(text: str, at_most: int) -> tuple[str, ...]:
    """Return the first lines of an output that say something."""
    found: dict[str, None] = {}
    for line in plain(text[:_TOLD_CHARS]).split("\n"):
        if (shown := one_line(line, 200)).lower() not in _SAID_NOTHING:
            found[shown] = None
            if len(found) == at_most:
                break
    return tuple(found)


def _verdicts(text: str, line: Line) -> list[Verdict]:
    """Ask the readers of each tool that was named; if all are silent, those whose mark is there.

    The first that speaks is believed: the table goes from the tools' own summaries to what many
    programs print.
    """
    found: list[Verdict] = []
    for tool in line.tools:
        found += itertools.islice(_spoken(_BY_TOOL.get(tool, ()), text), 1)
    if not found:
        marked = dict.fromkeys(read for mark, read in _BY_MARK if mark in text)
        found += itertools.islice(_spoken(marked, text), 1)
    return found


def _spoken(reads: Iterable[Read], text: str) -> Iterator[Verdict]:
    return (verdict for read in reads if (verdict := read(text)))


def _weighed(found: list[Verdict], told: bool | None) -> Verdict:  # noqa: FBT001 - three-valued, not a switch
    """Put the words of several tools into one verdict; a failure outweighs a clean exit code.

    `pytest | tail` ends with the exit code of `tail`, so counts of failures win over success.
    """
    bad = [verdict for verdict in found if verdict.ok is False]
    chief = bad[0] if bad else found[0]
    if told is False and not bad:
        chief = Verdict(tool=chief.tool, ok=False, said=chief.said, passed=chief.passed, failed=0)
    if len(found) == 1:
        return chief
    said = "; ".join(f"{verdict.tool}: {verdict.said}" for verdict in found[:4] if verdict.said)
    return Verdict(
        tool=chief.tool,
        ok=chief.ok,
        said=said,
        passed=chief.passed,
        failed=chief.failed,
        failing=chief.failing,
        first_error=chief.first_error,
    )


def _plain_words(text: str, *, ok: bool | None) -> Verdict:
    """Speak for a tool that no reader knows: its first complaint, or its last line."""
    if ok is False and (trouble := _TROUBLE.search(text)):
        start = text.rfind("\n", 0, trouble.start()) + 1
        return Verdict(ok=False, first_error=one_line(text[start:].partition("\n")[0], 300))
    last = _last_words(text)
    if ok is False:
        return Verdict(ok=False, first_error=one_line(last, 300))
    return Verdict(ok=ok, said=one_line(last, 160))


def _last_words(text: str) -> str:
    for line in reversed(text[-_LAST_CHARS:].split("\n")):
        if line.strip().lower() not in _SAID_NOTHING and not _EXIT_LINE.match(line):
            return line
    return ""
