"""What the exit code of a command line proves about the commands in it.

Part of interpretation (step 6). The exit code is that of what ran last: `pytest | tail` ends as
`tail` does, and `make || true` always well. A line may show an exit code on its own account
(`make; echo "exit: $?"`), or say in words which way it went (`make && echo OK || echo BROKEN`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from observer.core.text import word_set
from observer.shell import command_line
from observer.shell.command_line import SimpleCommand
from observer.shell.runners import XARGS, program_name
from observer.shell.words import split

_LOOPS = frozenset({"for", "while", "until"})
_PIPEFAIL = re.compile(r"\b(?:set|(?:ba|z|k)?sh)\s[^;&|\n]{0,200}\bpipefail\b")
"""Options stand near their command; a line of nothing but shells would take quadratic time."""
_ERREXIT = re.compile(r"\bset\s+-[a-df-z]*e|\b(?:ba|da|z|k)?sh\s+-[a-df-z]*e")
_LEAVING = frozenset({"exit", "return", "false"})
_SHOWING = frozenset({"echo", "printf", "Write-Host", "Write-Output"})
_ANSWERING = word_set("grep egrep fgrep rg ag diff cmp test [ [[ pgrep")
_GIT_ANSWERING = {
    "merge-base": word_set("--is-ancestor"),
    "diff": word_set("--quiet --exit-code"),
    "show-ref": word_set("--verify --exists --quiet -q"),
    "rev-parse": word_set("--verify"),
    "ls-files": word_set("--error-unmatch"),
    "cat-file": word_set("-e"),
    "config": word_set("--get --get-all --get-regexp"),
    "check-ignore": word_set("check-ignore"),
}
"""Programs, and words of git, whose exit code answers a question: 1 is no failure."""

_OF_FIRST = r"\$\{(?:PIPESTATUS\[0\]|pipestatus\[1\])\}"
_LAST_CODE = re.compile(rf"\$\?|\$\{{\?\}}|\$LASTEXITCODE\b|\$status\b|{_OF_FIRST}")
_FIRST_OF_PIPE = re.compile(_OF_FIRST)
_SAVED = re.compile(rf"\b(\w+)=[\"']?(?:(\$\?)|{_OF_FIRST})")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_ENDS_IN_CODE = re.compile(r"(?:^|\D)(\d{1,3})\W*$")
_SHOWN_CHARS = 4000


class ExitStatus(NamedTuple):
    """What an exit code of 0 and another one prove, and what the line prints on its own account.

    `shows` finds an exit code in the output, for which `shown_success` and `shown_failure` hold;
    `on_success` and `on_failure` are printed as a line after a success and a failure.
    """

    success: bool = True
    failure: bool = True
    shows: re.Pattern[str] | None = None
    shown_success: bool = False
    shown_failure: bool = False
    on_success: str = ""
    on_failure: str = ""

    def shown_code(self, output: str) -> int | None:
        """Return the exit code that the line itself printed."""
        if self.shows is None:
            return None
        tail = output[-_SHOWN_CHARS:].rstrip()
        if self.shows is _ENDS_IN_CODE:
            tail = tail[-80:].rpartition("\n")[2]
        found = [int(code) for code in self.shows.findall(tail)]
        if not found or not (self.shown_failure if found[-1] else self.shown_success):
            return None
        return found[-1]

    def printed(self, output: str) -> bool | None:
        """Return whether the line's own words say that it went well; None without such words."""
        lines = {line.strip() for line in output[-_SHOWN_CHARS:].split("\n")}
        if self.on_failure and self.on_failure in lines:
            return False
        return True if self.on_success and self.on_success in lines else None


@lru_cache(maxsize=2048)
def exit_status_of(command: str) -> ExitStatus:
    """Return what the exit code of a command line proves; any text gives an answer."""
    parts = command_line.simple_commands(command)
    heads = [part for part in command_line.leading_commands(parts) if part.words[0] not in _LEAVING]
    if not heads:
        return ExitStatus()
    line = _Line(parts, heads, bool(_PIPEFAIL.search(command)), bool(_ERREXIT.search(command)))
    first_words = {simple.words[0] for simple in split(command)}
    if "!" in first_words or is_in_background(command):
        return ExitStatus(success=False, failure=False)
    if not _LOOPS.isdisjoint(first_words):
        return ExitStatus(success=False, failure=line.failure)
    return _shown(command, line, _worded(line))


def is_in_background(command: str) -> bool:
    """Return True if a command line ends in `&`, or a subshell at its end does."""
    end = command.rstrip().removesuffix(")").rstrip()
    return end.endswith("&") and not end.endswith(("&&", ">&"))


class _Line(NamedTuple):
    """A command line, those of its commands that it is about, and the shell's options."""

    parts: Sequence[SimpleCommand]
    heads: Sequence[SimpleCommand]
    pipefail: bool
    errexit: bool

    def is_head(self, part: SimpleCommand) -> bool:
        return any(part is head for head in self.heads)

    def until(self, end: int, *, first_of_pipe: bool) -> _Line:
        """Return the line before one of its commands; `PIPESTATUS` looks through a pipe."""
        parts = list(self.parts[:end])
        while first_of_pipe and parts and parts[-1].sign == "|":
            parts.pop()
        heads = [head for head in self.heads if any(head is part for part in parts)]
        return self._replace(parts=parts, heads=heads)

    @property
    def success(self) -> bool:
        """Whether an exit code of 0 proves that all commands which matter ended well."""
        if any(XARGS in head.wrapping for head in self.heads):
            return False  # it may have had nothing to run
        start = next(at for at, part in enumerate(self.parts) if part is self.heads[0])
        return all(self._passes_on(part) for part in self.parts[start + 1 :])

    def _passes_on(self, part: SimpleCommand) -> bool:
        """Return whether a failure before this command still shows in the exit code."""
        if part.sign == "|":
            return self.pipefail
        if part.sign == "||":
            return part.words[0] in _LEAVING
        return part.sign == "&&" or (part.sign == ";" and self.errexit)

    @property
    def failure(self) -> bool:
        """Whether an exit code other than 0 proves that a command which matters failed."""
        last = self.parts[-1]
        is_question = _answers(last) and not all(map(_answers, self.heads))
        if not is_question and (self.is_head(last) or last.words[0] in _LEAVING):
            return True
        if _answers(last):
            return False
        started = [at for at, part in enumerate(self.parts) if part.sign in {";", "&"}]
        statement = self.parts[0 if self.errexit or not started else started[-1] :]
        if not self.pipefail:
            statement = _before_last_pipe(statement)
        return any(map(self.is_head, statement))


def only_answers(command: str) -> bool:
    """Return True if the exit code of a command line is the answer to a question."""
    heads = command_line.leading_commands(command_line.simple_commands(command))
    return bool(heads) and all(map(_answers, heads))


def _answers(part: SimpleCommand) -> bool:
    verb = command_line.git_words(part.words) if program_name(part.words[0]) == "git" else []
    asking = _GIT_ANSWERING.get(verb[0], frozenset()) if verb else frozenset()
    return program_name(part.words[0]) in _ANSWERING or not asking.isdisjoint(verb)


def _before_last_pipe(statement: Sequence[SimpleCommand]) -> Sequence[SimpleCommand]:
    """Return the commands whose failure keeps the last pipe from being run."""
    end = len(statement)
    while end and statement[end - 1].sign == "|":
        end -= 1
    return statement if end == len(statement) else statement[: max(end - 1, 0)]


def _worded(line: _Line) -> ExitStatus:
    """Return what the exit code proves, and which words the line prints for either end."""
    said = {"&&": "", "||": ""}
    for before, part in zip(line.parts, line.parts[1:], strict=False):
        is_judged = line.is_head(before) and not before.looks and before.sign != "|"
        ends_success = part.sign == "||" and said["&&"] != "" and said["&&"] == _literal(before)
        if part.sign in said and (is_judged or ends_success):
            said[part.sign] = _literal(part)
    if said["&&"] == said["||"] or len(line.heads) != 1:
        said = {"&&": "", "||": ""}
    return ExitStatus(line.success, line.failure, on_success=said["&&"], on_failure=said["||"])


def _literal(part: SimpleCommand) -> str:
    """Return the words that a command prints, if they are always the same."""
    text = " ".join(part.words[1:]).strip("\"'")
    is_plain = not part.into and not set("$`>\"'\\") & set(text) and text[:1] != "-"
    return text if part.words[0] == "echo" and is_plain else ""


def _shown(command: str, line: _Line, status: ExitStatus) -> ExitStatus:
    """Add how an exit code that the line shows, or ends with, is found."""
    saved = _SAVED.search(command)
    for end in range(len(line.parts) - 1, 0, -1):
        part = line.parts[end]
        words = " ".join(part.words)
        is_exit = part.words[0] == "exit"
        if is_exit or (part.sign == ";" and part.words[0] in _SHOWING and not part.into):
            before = _judged_by(words, line, end, saved)
            if before is None:
                continue
            if is_exit:
                proofs = (before.success, before.failure) if end + 1 == len(line.parts) else ()
                return status._replace(success=proofs[0], failure=proofs[1]) if proofs else status
            pattern = _pattern(words, is_last=end + 1 == len(line.parts))
            return status._replace(
                shows=pattern, shown_success=before.success, shown_failure=before.failure
            )
    return status


def _judged_by(words: str, line: _Line, end: int, saved: re.Match[str] | None) -> _Line | None:
    """Return the part of the line whose exit code these words show; None if they show none."""
    if _LAST_CODE.search(words):
        before = line.until(end, first_of_pipe=_FIRST_OF_PIPE.search(words) is not None)
        return before if before.heads else None
    names = _VARIABLE.findall(words)
    if saved is None or saved.group(1) not in names:
        return None
    last = max(at for at, part in enumerate(line.parts) if line.is_head(part))
    while last + 1 < end and line.parts[last + 1].sign == "|":
        last += 1
    return line.until(last + 1, first_of_pipe=saved.group(2) is None)


def _pattern(words: str, *, is_last: bool) -> re.Pattern[str] | None:
    """Return what finds the code in the output: among the words beside it, or in the last line."""
    text = re.sub(r"[\"']|\\n|%\w|^\S+ (?:-\w+ )?", "", words)
    around = [re.escape(one.strip()) for one in _VARIABLE_OR_CODE.split(text, maxsplit=1)]
    if len(around) == 2 and re.search(r"\w", around[0]) and len(around[0]) < 80:
        return re.compile(rf"^[ \t]*{around[0]}[ \t]*(\d{{1,3}})\b", re.MULTILINE)
    return _ENDS_IN_CODE if is_last else None


_VARIABLE_OR_CODE = re.compile(rf"{_LAST_CODE.pattern}|{_VARIABLE.pattern.replace('(', '(?:')}")
