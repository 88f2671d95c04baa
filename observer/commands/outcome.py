"""What a command's output says about it: passed or failed, how many, what first.

This module chooses among `parsers`, and weighs their word against the exit code. An output is read
as plain text, without the names that task runners put before lines. Where filters such as `tail` or
`grep` hide a part of it, a summary need not be the last one; silence is a success of tools that
print what is wrong, if their last line would be visible (`tsc | tail`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from observer.commands import command_line, ending
from observer.commands.command_line import CommandLine, SimpleCommand
from observer.commands.parsers import PARSERS
from observer.commands.parsers.parser import OutputParser
from observer.commands.parsers.runners import GIT, MISUSED, NOTHING_TO_COMMIT
from observer.commands.result import (
    LINE_START,
    WRAPPER,
    CommandResult,
    Diagnostic,
    failed_result,
    first_error_line,
    is_heading,
    last_match,
    line_pattern,
    signature,
)
from observer.commands.runners import program_name
from observer.core.events import Command
from observer.core.text import one_line, uncoloured, word_set

_PREFIX = re.compile(
    r"^(?:[\w@./-]{1,60}[:#][A-Za-z][\w:.@/#-]{0,60}: ?"
    r"|[\w@./-]{1,60} [a-z][\w:.-]{0,40}: "
    r"|\[(?!(?:INFO|ERROR|WARN(?:ING)?|DEBUG|TRACE|FATAL|error|warn|info|debug|notice|\d+%)\])"
    r"[\w@./:#-]{1,60}\] "
    r"|[\w.-]{1,60} +\| )",
    re.MULTILINE,
)
HEAD_CHARS = 12_000
TAIL_CHARS = 20_000
"""How much of an output is looked at: its beginning, and its end where summaries stand."""
_LINE_CHARS = 500
_FIRST_LINES_CHARS = 4000
_CLIENT = "Shell cwd was reset to "
_CLIENT_LINE = re.compile(rf"(?:\A|(?<=\n)){_CLIENT}[^\n]*\n?")
SAID_NOTHING = frozenset(
    {"", "(no output)", "no output", "tool ran without output or errors", "(empty)", "output:"}
)
_LEAST_LINES = 3
_SHARE = 0.6


def strip_task_prefixes(text: str) -> str:
    """Return a text without the names of tasks before its lines, if most lines have one."""
    found = Counter(map(str.rstrip, _PREFIX.findall(text)))
    names = {name for name, count in found.items() if count >= _LEAST_LINES}
    lines = sum(1 for line in text.split("\n") if line.strip())
    if not names or sum(found[name] for name in names) < _SHARE * lines:
        return text
    return _PREFIX.sub(lambda one: "" if one.group().rstrip() in names else one.group(), text)


_DEFAULT_LINES = 10
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "Select-String"})
_OPAQUE = frozenset(
    {"awk", "cut", "jq", "perl", "python", "python3", "sed", "sort", "tr", "uniq", "wc", "xxd"}
)
_BLANK = 2
_NUMBER = re.compile(r"-{1,2}(?:n|lines=?)?(\d{1,7})\Z")
_LOST = re.compile(r"(?:\d|&)?>{1,2}\s*(?!&)(?!/dev/(?:stdout|stderr))\S")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class VisibleOutput(NamedTuple):
    """Which lines of an output are let through.

    Fewer than `lines` are all that there were; `start` and `end` say whether those are among them,
    `is_opaque` whether lines were chosen or changed, `is_lost` whether some went elsewhere.
    """

    lines: int | None = None
    start: bool = True
    end: bool = True
    is_opaque: bool = False
    is_lost: bool = False

    def is_whole(self, text: str) -> bool:
        """Return True if nothing was left out of this text."""
        if self.is_opaque or self.is_lost:
            return False
        if self.start and self.end:
            return True
        return self.lines is not None and text.rstrip().count("\n") + _BLANK < self.lines

    def shows_end(self, text: str) -> bool:
        """Return True if the last lines are in this text."""
        if self.is_opaque:
            return False
        return self.end or self.is_whole(text)


@lru_cache(maxsize=2048)
def visible_output_of(command: str) -> VisibleOutput:
    """Return which lines of an output a command line lets through; any text gives an answer."""
    parts = command_line.simple_commands(command)
    heads = command_line.leading_commands(parts)
    if not heads:
        return VisibleOutput()
    start = next(at for at, part in enumerate(parts) if part is heads[0])
    is_lost = _LOST.search(_QUOTED.sub("", command)) is not None or ending.is_in_background(command)
    found = VisibleOutput(is_lost=is_lost)
    for part in parts[start + 1 :]:
        if not any(part is head for head in heads):
            found = _through(part, found)
    return found


def _through(part: SimpleCommand, seen: VisibleOutput) -> VisibleOutput:
    program = program_name(part.words[0])
    if program in {"head", "tail"}:
        return _cut(part.words, seen, at_end=program == "head")
    if program in _SEARCHING:
        is_inverted = any(word[:1] == "-" != word[1:2] and "v" in word for word in part.words[1:])
        return seen._replace(start=False) if is_inverted else seen._replace(is_opaque=True)
    if program in _OPAQUE and part.sign == "|":
        return seen._replace(is_opaque=True)
    return seen


def _cut(words: Sequence[str], seen: VisibleOutput, *, at_end: bool) -> VisibleOutput:
    if any(word.startswith(("-n+", "+")) for word in words):
        return seen._replace(start=False)
    lines = _DEFAULT_LINES
    for word in words[1:]:
        if word.startswith(("-c", "--bytes")):
            return seen._replace(is_opaque=True)
        if (found := _NUMBER.match(word)) or (word.isdecimal() and len(word) < 8):
            lines = int(found.group(1) if found else word)
    least = lines if seen.lines is None else min(lines, seen.lines)
    return seen._replace(lines=least, start=seen.start and at_end, end=seen.end and not at_end)


_QUIET = word_set(
    "tsc vue-tsc eslint gofmt goimports staticcheck flake8 pyflakes pycodestyle javac"
)
_QUIET_WITH = {"go": word_set("build vet"), "cargo": word_set("fmt")}
_BANNER = re.compile(
    r"(?:\[[\w:./@-]+\] )?\$ (?P<run>\S[^\n]*)|> \S+@\S+ [^\n]*|> (?P<npm>\S[^\n]*)"
    r"|yarn run v[\d.]+|Done in [\d.]+m?s\.?|npm (?:warn|WARN) [^\n]*"
    r"|\[[\w:./@-]+\] Finished in [\d.]+m?s|Finished in [\d.]+m?s"
)


def read_silence(text: str, line: CommandLine, seen: VisibleOutput) -> CommandResult | None:
    """Return a success if nothing was printed by tools that print what is wrong; None else."""
    if seen.is_lost or not seen.shows_end(text):
        return None
    run: list[str] = []  # what runners printed before they ran it
    for said in filter(None, map(str.strip, text.split("\n"))):
        banner = _BANNER.fullmatch(said)
        if banner is None and said.lower() not in SAID_NOTHING:
            return None
        run += filter(None, (banner["run"], banner["npm"])) if banner else ()
    if not run and not seen.is_whole(text):
        return None
    tools = [""]
    for part in command_line.simple_commands(" && ".join(run) or line.head):
        tools.append(program_name(part.words[0]))
        verbs = _QUIET_WITH.get(tools[-1], frozenset())
        if tools[-1] not in _QUIET and verbs.isdisjoint(part.words[1:2]):
            return None
    return CommandResult(tool=tools[-1], ok=True, said="no errors")


def plain_output(output: str) -> str:
    """Return the head and tail of an output without colours, carriage returns, long lines."""
    if len(output) > HEAD_CHARS + TAIL_CHARS:
        output = f"{output[:HEAD_CHARS]}\n{output[-TAIL_CHARS:]}"
    output = uncoloured(output)
    if _CLIENT in output:
        output = _CLIENT_LINE.sub("", output)
    if "\r" in output:
        lines = output.replace("\r\n", "\n").split("\n")
        output = "\n".join(line.rpartition("\r")[2] for line in lines)
    if len(output) > _LINE_CHARS:
        lines = output.split("\n")
        if max(map(len, lines)) > _LINE_CHARS:
            output = "\n".join(line if line[:2] == '{"' else line[:_LINE_CHARS] for line in lines)
    return output


def first_lines(text: str, at_most: int) -> tuple[str, ...]:
    """Return the first lines of an output that say something."""
    lines = plain_output(text[:_FIRST_LINES_CHARS]).split("\n")
    shown = (one_line(line, 200) for line in lines)
    return tuple(dict.fromkeys(one for one in shown if one.lower() not in SAID_NOTHING))[:at_most]


_BY_TOOL = {
    tool: tuple(reader for reader in PARSERS if tool in reader.tools and reader.read != GIT.read)
    for tool in {tool for reader in PARSERS for tool in reader.tools}
}
_RAISED_BY = {"git": tuple(reader for reader in PARSERS if reader.read == GIT.read)}
_BY_MARK = tuple((mark, reader) for reader in PARSERS for mark in reader.marks)
_BY_MARK_OF_SUCCESS = tuple(row for row in _BY_MARK if not row[1].is_raised)


_COMMITTED = line_pattern(r"\[[^\]\n]+ [0-9a-f]{7,40}\] [^\n]+$")


_ERROR_SIGNS = ("error: ", "Error: ", "ERROR: ", "fatal: ")
_SHOWING = frozenset({"gh", "glab", "heroku", "vercel", "fly", "flyctl", "sqlite3", "psql", "jq"})


def parse_output(
    text: str, line: CommandLine, seen: VisibleOutput, *, ok: bool | None
) -> list[CommandResult]:
    """Return the results that the parsers found in an output, the most significant first.

    `text` begins with `LINE_START`, and `seen` says which part of the output it is. Where nothing
    proves how the command ended (`ok` is None), a success is believed only if a failure would have
    been visible.
    """
    if line.tool in _SHOWING:
        return []
    if line.tool == "git" and (committed := last_match(_COMMITTED, text)):
        text = text[committed.end() :]
    if ok is not None:
        return _results(text, line, ok=ok)
    found = [_believed(one, text, seen) for one in _results(text, line, ok=None)]
    if not failures_among(found) and WRAPPER.match(text.rstrip().rpartition("\n")[2]):
        found = [failed_result("", "", Diagnostic(first_error_line(text))), *found]
    if not any(one.tool or one.ok is False for one in found):
        said = read_silence(text, line, seen) or own_error(text, line.tools)
        last = text.rstrip().rpartition("\n")[2]
        if not said and last.startswith(_ERROR_SIGNS) and seen.shows_end(text):
            said = failed_result("", "", Diagnostic(last))
        return [said] if said else found
    return found


def own_error(text: str, tools: Iterable[str]) -> CommandResult | None:
    """Return the failure of a program that complains in its last words, or first, by its name."""
    lines = text.strip().split("\n")
    for words in (lines[-1], lines[0]):
        names = (f"{tool}{end}" for tool in tools for end in (": ", " error: "))
        is_own = any(name in words[: len(name) + 1] or f"/{name}" in words[:80] for name in names)
        if is_own and first_error_line(words):
            return failed_result("", "", Diagnostic(words))
    return MISUSED.read(f"\n{lines[0]}")


def _believed(result: CommandResult, text: str, seen: VisibleOutput) -> CommandResult:
    shows_end = seen.shows_end(text)
    if result.tool in _THROWING and not (shows_end and _ends_with(result, text)):
        return CommandResult(said=result.first_error)
    ran_none = result.passed == 0 and not result.failed
    return replace(result, ok=None) if result.ok and (ran_none or not shows_end) else result


_THROWING = frozenset({"python", "thrown", "java", "ruby"})
"""Who prints a stack: a program that goes on has handled the error."""
_STACK = re.compile(r"\s|\}|Bun v|\.\.\. \d+ more|\S+:\d+:in |Caused by: |\Z")
_LEAD_CHARS = 40


def _ends_with(result: CommandResult, text: str) -> bool:
    """Return True if nothing follows an error but its stack, and what says that it was one."""
    words = result.first_error.rstrip("\u2026").rpartition(": ")[2][-_LEAD_CHARS:]
    _, found, behind = text.rstrip().rpartition(words)
    rest = behind.partition("\n")[2]
    return (
        not (found and rest)
        or "\nNode.js v" in rest
        or all(_STACK.match(line) or WRAPPER.match(line) for line in rest.split("\n"))
    )


def _results(text: str, line: CommandLine, *, ok: bool | None) -> list[CommandResult]:
    """Ask the readers of each tool that was named, then those whose mark is there.

    Of these the first is believed, but one that saw something bad before it, unless all ended well:
    `make test lint` is not fine because its tests are.
    """
    named: dict[str, CommandResult] = {}
    for tool in line.tools:
        named |= ((tool, one) for one in _first(_heard(_BY_TOOL.get(tool, ()), text, is_passed=ok)))
    found = list(named.values())
    if failures_among(found) or (ok and found):
        return found
    if ok:
        heard = list(_heard(_marked(_BY_MARK_OF_SUCCESS, text), text, is_passed=ok))
        return _first(failures_among(heard) or heard)
    raised = _first(_heard(_RAISED_BY.get(line.tool, ()), text, is_passed=ok))
    if ok is False and line.tool == "git" and (unchanged := NOTHING_TO_COMMIT.read(text)):
        raised = [unchanged]
    marked = _marked(_BY_MARK, text)
    sure = [one for one in marked if not one.is_raised or (ok is False and not raised)]
    found += _first(failures_among(_heard(sure, text, is_passed=ok)) or raised)
    found += [] if found else _first(_heard(marked, text, is_passed=ok))
    ending = named.get(line.last) if named else next(reversed(found), None)
    is_counted = ending is not None and ending.passed is not None
    if ok is None and found and not (is_counted or failures_among(found)):
        # What was built or installed may have been run then, and broken: `cargo run`.
        found += _first(failures_among(_heard(marked, text, is_passed=ok)))
    return found


def _marked(marks: Iterable[tuple[str, OutputParser]], text: str) -> Iterable[OutputParser]:
    return dict.fromkeys(reader for mark, reader in marks if mark in text)


def _first(results: Iterable[CommandResult]) -> list[CommandResult]:
    return list(itertools.islice(results, 1))


def _heard(
    readers: Iterable[OutputParser], text: str, *, is_passed: bool | None
) -> Iterator[CommandResult]:
    """Yield what readers say, first the one to believe; who ends well may print a handled error."""
    for reader in readers:
        if not (is_passed and reader.is_raised) and (result := reader.read(text)):
            yield result


def failures_among(results: Iterable[CommandResult]) -> list[CommandResult]:
    """Return the results that are failures."""
    return [result for result in results if result.ok is False]


_LAST_CHARS = 2000
_NOT_THERE = "No such file or directory"
_SUMMARY = line_pattern(
    r"\W*(?:Found )?[1-9]\d* (?:\w+ )?(?:errors?|fail\w*|problems?|issues?)\b[^\n]*$"
    r"|\W*Some errors were emitted [^\n]*$"
)
_STOPPING = frozenset({124, 137, 143})


def command_result(command: Command, line: CommandLine, root: str = "") -> CommandResult:
    """Return how a command went, by exit code and output; places in `root` are relative to it."""
    result = _read(command, line)
    folder = f"{root.rstrip('/')}/"
    if root and folder in result.first_error:
        return replace(result, first_error=result.first_error.replace(folder, ""))
    return result


def _read(command: Command, line: CommandLine) -> CommandResult:
    if never := ending.unexecuted_result(command):
        return never
    ok = ending.ended(command)
    heads = command_line.leading_commands(command_line.simple_commands(command.command))
    is_question = bool(heads) and all(map(ending.answers, heads))
    if ok is False and ending.own_exit_code(command) in {1, None} and is_question:
        is_diff = "diff" in (line.tool, *line.head.split()[1:2])
        return CommandResult(ok=True, said="differences found" if is_diff else "nothing found")
    text = LINE_START + strip_task_prefixes(plain_output(command.output))
    if line.is_routine and ok is not False:
        return _looked(command, line, text)
    if ending.is_interrupted(command):
        return _plain_words(text, ok=None)
    seen = visible_output_of(command.command)
    found = parse_output(text, line, seen, ok=ok) if ok is None or text.strip() else []
    is_named = any(one.first_error or one.failing for one in failures_among(found))
    if ok is False and not is_named and (code := ending.stopped_by(command)) is not None:
        return _ended(code, found, text)
    return _weighed(found, text, ok=ok) if found else _plain_words(text, ok=ok)


def _looked(command: Command, line: CommandLine, text: str) -> CommandResult:
    ok = ending.reported(command)
    complained = own_error(text, line.tools) if ending.ended(command) is None else None
    if complained and _NOT_THERE not in complained.first_error:
        return complained
    if ok is False and _last_words(text):
        return _plain_words(text, ok=False)
    return CommandResult(ok=True, said="nothing found") if ok is False else CommandResult(ok=ok)


def _weighed(found: list[CommandResult], text: str, *, ok: bool | None) -> CommandResult:
    """Put the words of several tools into one result; a failure outweighs a clean exit code."""
    failed = failures_among(found)
    chief = (failed or [one for one in found if one.passed is not None] or found)[0]
    summary = _SUMMARY.search(text) if failed and not chief.first_error else None
    if summary and not is_heading(summary.group()):  # what counts them stands for missing words
        chief = replace(chief, first_error=str(Diagnostic(summary.group().strip())))
    if ok is False and not failed:
        words = _plain_words(text, ok=False) if chief.passed is None else CommandResult()
        chief = replace(chief, ok=False, first_error=words.first_error, signature=words.signature)
    if len(found) == 1:
        return chief
    said = "; ".join(f"{result.tool}: {result.said}" for result in found[:4] if result.said)
    return replace(chief, said=said)


def _ended(code: int, found: Sequence[CommandResult], text: str) -> CommandResult:
    how = ending.ENDINGS[code]
    reached = one_line(_last_words(text), 160)
    words = Diagnostic(f"{how}; its last words: {reached}" if reached else "")
    chief = next(iter(found), CommandResult(said=how))
    return replace(
        chief,
        ok=False,
        first_error=str(words),
        signature=signature(how) if reached else "",
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
        is_own = not (ending.EXIT_LINE.match(line) or ending.TIMED_OUT.match(line))
        if is_own and line.strip().lower() not in SAID_NOTHING and says(line):
            return line
    return ""
