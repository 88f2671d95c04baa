"""An output as plain text: which part of it a command line lets through, and what silence proves.

Part of interpretation (step 6). `plain_output` removes what is for terminals, and the middle
of what is too long. `visible_output_of` reads filters such as `pytest | tail -5`: where
the end is cut off, a summary that is visible need not be the last one; where lines are selected by
a pattern, those that report failures may be missing. `strip_task_prefixes` removes what runners of
several tasks put before each line (`shop:test: `, `[test] `, `web-1  | `), but not log levels.
`read_silence` reads the silence of tools that print nothing if all is well: `tsc | tail` ends as
`tail` does, but had there been an error, its last line would be visible. The command that a runner
prints (`$ tsc --noEmit`) is not output of the tool, and names it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from observer.commands import command_line
from observer.commands.command_line import CommandLine, SimpleCommand
from observer.commands.ending import is_in_background
from observer.commands.result import CommandResult
from observer.commands.runners import program_name
from observer.core.text import one_line, uncoloured, word_set

_PREFIX = re.compile(
    r"^(?:[\w@./-]{1,60}[:#][A-Za-z][\w:.@/#-]{0,60}: ?"
    r"|[\w@./-]{1,60} [a-z][\w:.-]{0,40}: "
    r"|\[(?!(?:INFO|ERROR|WARN(?:ING)?|DEBUG|TRACE|FATAL|error|warn|info|debug|notice|\d+%)\])"
    r"[\w@./:#-]{1,60}\] "
    r"|[\w.-]{1,60} +\| )",
    re.MULTILINE,
)
_FRAMED = re.compile(r"^ *Tasks: +\d+ successful,", re.MULTILINE)
"""What turbo sums up with, behind the tasks' lines and without their names."""
HEAD_CHARS = 12_000
TAIL_CHARS = 20_000
"""How much of an output is looked at: its beginning, and its end where summaries stand."""
_LINE_CHARS = 500
_FIRST_LINES_CHARS = 4000
_CLIENT = "Shell cwd was reset to "
_CLIENT_LINE = re.compile(rf"(?:\A|(?<=\n)){_CLIENT}[^\n]*\n?")
"""What a client says of its own shell, behind the output."""
SAID_NOTHING = frozenset(
    {"", "(no output)", "no output", "tool ran without output or errors", "(empty)", "output:"}
)
_LEAST_LINES = 3
_SHARE = 0.6


def strip_task_prefixes(text: str) -> str:
    """Return a text without the names of tasks before its lines, if most lines have one."""
    found = Counter(map(str.rstrip, _PREFIX.findall(text)))
    names = {name for name, count in found.items() if count >= _LEAST_LINES}
    named = list(_PREFIX.finditer(text)) if _FRAMED.search(text) else []
    shown = text[named[0].start() : named[-1].end()] if named else text
    lines = sum(1 for line in shown.split("\n") if line.strip())
    if not names or sum(found[name] for name in names) < _SHARE * lines:
        return text
    return _PREFIX.sub(lambda one: "" if one.group().rstrip() in names else one.group(), text)


_DEFAULT_LINES = 10
_WHOLE = frozenset({"cat", "tee", "less", "more", "nl", "ts"})
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "Select-String"})
_OPAQUE = frozenset(
    {"awk", "cut", "jq", "perl", "python", "python3", "sed", "sort", "tr", "uniq", "wc", "xxd"}
)
_BLANK = 2
"""Most blank lines at the end of an output: clients leave them out."""
_NUMBER = re.compile(r"-{1,2}(?:n|lines=?)?(\d{1,7})\Z")
_LOST = re.compile(r"(?:\d|&)?>{1,2}\s*(?!&)(?!/dev/(?:stdout|stderr))\S")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class VisibleOutput(NamedTuple):
    """Which lines of an output are let through.

    Fewer than `lines` lines are all that there were. `end` and `start` say whether those are among
    them, `is_opaque` whether lines were chosen or changed, `is_lost` whether some went elsewhere.
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
    is_lost = _LOST.search(_QUOTED.sub("", command)) is not None or is_in_background(command)
    found = VisibleOutput(is_lost=is_lost)
    for part in parts[start + 1 :]:
        if not any(part is head for head in heads):
            found = _through(part, found)
    return found


def _through(part: SimpleCommand, seen: VisibleOutput) -> VisibleOutput:
    """Return what is left behind one more command of a pipe, or one that shows a log."""
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
    run = commands_printed(text)
    if run is None or (not run and not seen.is_whole(text)):
        return None
    tools = _quiet_tools(" && ".join(run) or line.head)
    return CommandResult(tool=tools, ok=True, said="no errors") if tools else None


def commands_printed(text: str) -> list[str] | None:
    """Return the commands that runners printed where nothing else was; None where it was."""
    run: list[str] = []
    for said in filter(None, map(str.strip, text.split("\n"))):
        banner = _BANNER.fullmatch(said)
        if banner is None and said.lower() not in SAID_NOTHING:
            return None
        run += filter(None, (banner["run"], banner["npm"])) if banner else ()
    return run


def _quiet_tools(command: str) -> str:
    """Return the last tool of a command line all of whose tools are quiet, or ""."""
    last = ""
    for part in command_line.simple_commands(command):
        words = part.words
        name = program_name(words[0])
        verbs = _QUIET_WITH.get(name)
        if not (name in _QUIET if verbs is None else words[1:2] and words[1] in verbs):
            return ""
        last = name
    return last


def plain_output(output: str) -> str:
    """Return the head and tail of an output without colours, carriage returns and long lines.

    A report in JSON is one long line.
    """
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
