"""How a command ended: its exit code, what that proves, and whether it did its work at all.

The code stands in the event, or in the output, and is that of what ran last: `pytest | tail` ends
as `tail` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple

from msgspec.structs import replace

from observer.commands import command_line
from observer.commands.command_line import SimpleCommand
from observer.commands.result import CommandResult
from observer.commands.runners import XARGS, program_name, split
from observer.core.events import Command
from observer.core.patterns import lazy_pattern
from observer.core.text import one_line, uncoloured, word_set

EXIT_LINE = re.compile(r"^(?:Exit [Cc]ode:? ?|exit status )(-?\d+)\s*$", re.MULTILINE)
BY_TIMEOUT = 124
ENDINGS = {
    BY_TIMEOUT: "timed out",
    134: "aborted (SIGABRT)",
    137: "killed (SIGKILL)",
    139: "crashed (SIGSEGV)",
    143: "terminated (SIGTERM)",
}


def ended(command: Command) -> bool | None:
    """Return how the command that matters ended; None where nothing but its output says so."""
    command = _as_shown(command)
    status = exit_status_of(command.command)
    ok = reported(command)
    if ok is False and stopped_by(command) is not None:
        return False
    return None if ok is None or not (status.success if ok else status.failure) else ok


_SHOWING = re.compile(r"[;\n]\s*(?:echo|printf)\b[^;&|>\n]*\$\?[^;&|>\n]*\Z")
_SHOWN = re.compile(r"(?:^|\D)(\d{1,3})\W*\Z")


def _as_shown(command: Command) -> Command:
    """Return a command with the exit code that the end of its line shows: `make; echo $?`."""
    end = _SHOWING.search(command.command) if "$?" in command.command else None
    code = _SHOWN.search(command.output[-80:].rstrip().rpartition("\n")[2]) if end else None
    if end is None or code is None:
        return command
    line, status = command.command[: end.start()], int(code[1])
    return replace(command, command=line, exit_code=status, failed=status != 0)


def reported(command: Command) -> bool | None:
    """Return how the whole line ended, as the client reported."""
    code = exit_code_of(command)
    if command.failed is not None:
        return not command.failed
    return None if code is None else code == 0


def stopped_by(command: Command) -> int | None:
    """Return the exit code that shows what stopped a command; 124 where a client timed out."""
    code = own_exit_code(command)
    if code in ENDINGS:
        return code
    if command.exit_code is not None or command.failed is False:
        return None
    text = _ERROR_TAG.sub("", f"{command.output[:_END_CHARS]}\n{command.output[-_END_CHARS:]}")
    lines = text.strip().split("\n")
    return BY_TIMEOUT if any(map(TIMED_OUT.match, (*lines[:2], lines[-1]))) else None


def own_exit_code(command: Command) -> int | None:
    """Return the exit code of the command that matters; None where only another's is known."""
    command = _as_shown(command)
    code = exit_code_of(command)
    if code is None or code in ENDINGS:
        return code
    status = exit_status_of(command.command)
    return code if (status.failure if code else status.success) else None


def exit_code_of(command: Command) -> int | None:
    """Return the exit code the client reported, or the one that the output names in a line."""
    if command.exit_code is not None or not command.output:
        return command.exit_code
    for part in (command.output[:80], command.output[-80:]):
        if "xit" in part and (match := EXIT_LINE.search(part)):
            return int(match.group(1)[:9])
    return None


_END_CHARS = 2000
_INTRODUCED = lazy_pattern(r"\A(?:Exit code \d+\s+|Error: )+")
_ERROR_TAG = lazy_pattern(r"</?tool_use_error>|</?error>")
_NEVER = {
    "refused": lazy_pattern(
        r"The user doesn't want to (?:proceed with|take) this|(?:The )?[Uu]ser (?:has )?(?:rejected"
        r"|denied|declined|refused|skipped|aborted|cancell?ed)\b|exec command rejected by user"
        r"|Claude requested permissions? |Permission to (?:use|run) .{1,400}? denied"
        r"|This (?:command|tool use|Bash command) requires (?:approval|permission)"
        r"|This Bash command contains multiple operations\. The following parts? requires? approval"
        r"|(?:exec_command failed .{1,400}?|patch )rejected\b|approval policy is "
        r"|(?:Tool (?:use|call) |Command )?(?:was )?(?:[Rr]ejected|[Dd]enied|[Cc]ancell?ed) by"
        r" (?:the )?user"
        r"|Tool (?:use|call) (?:was )?(?:rejected|denied)",
        re.DOTALL,
    ),
    "interrupted": lazy_pattern(r"\[?Request interrupted by user|aborted by user after \d"),
    "blocked": lazy_pattern(
        r"(?:\w+:|Hook )?PreToolUse(?::\w+)?(?: \[.{1,200}?\])? ?"
        r"(?:hook )?(?:error|blocked|denied|:)"
        r"|(?:Hook|Command|Operation|This command|Execution) (?:was |has been |is )?"
        r"(?:blocked|denied|disallowed)\b|.{1,300}? was blocked\. For security",
        re.DOTALL,
    ),
    "cancelled": lazy_pattern(
        r"Sibling tool call errored|Cancell?ed(?:\Z|[.:] )|Tool (?:use|call) (?:was )?"
        r"(?:aborted|cancell?ed)"
    ),
    "invalid call": lazy_pattern(
        r"InputValidationError|(?:Error: )?No such tool available|unsupported call"
        r"|failed to parse function arguments"
    ),
    "not started": lazy_pattern(r"exec_command failed |execution error: |failed in sandbox"),
}
_IN_BACKGROUND = lazy_pattern(
    r"Command (?:is )?running in (?:the )?background|Started background (?:process|task|command)"
    r"|Command (?:was )?(?:moved to|did not complete .{1,200}? moved to) (?:the )?background",
    re.DOTALL,
)
BACKGROUND = "running in the background"
_INTERRUPTED = "[Request interrupted by user"
_BY_SIGINT = 130
_EXITED_BY_SIGINT = lazy_pattern(rf"Exit code {_BY_SIGINT}$", re.MULTILINE)
TIMED_OUT = lazy_pattern(
    r"(?i)\W*(?:\w+[ :]+){0,3}command (?:\w+ ){0,8}(?:timed out after|timeout(?: of)?) \d"
)
"""How clients say that they have waited long enough, in a line of its own."""
_KEYBOARD = lazy_pattern(r"^!{3,} (?:[\w.]+: )?KeyboardInterrupt !{3,}$", re.MULTILINE)


def unexecuted_result(command: Command) -> CommandResult | None:
    """Return the result of a call that did not run, or has not ended; None of any other."""
    text = _INTRODUCED.sub("", _ERROR_TAG.sub("", command.output[:_END_CHARS]).strip())
    if not text or command.exit_code == 0:
        return None
    if command.exit_code is None and _IN_BACKGROUND.match(text):
        return CommandResult(said=BACKGROUND)
    if command.failed is False:
        return None
    for reason, pattern in _NEVER.items():
        # Some clients give an exit code to what nobody has run; who did run may say the rest.
        if pattern.match(text) and (command.exit_code is None or reason == "refused"):
            return CommandResult(said=f"not run: {reason}", was_run=False)
    return None


def is_interrupted(command: Command) -> bool:
    """Return True if the command was interrupted: how it would have ended is unknown."""
    return (
        command.interrupted
        or command.exit_code == _BY_SIGINT
        or _INTERRUPTED in command.output[-200:]
        or _EXITED_BY_SIGINT.match(command.output) is not None
        or _KEYBOARD.search(command.output[-_END_CHARS:]) is not None
    )


Reason = Literal["", "missing", "usage", "script", "folder", "permission", "service", "stopped"]
"""Why: the program is `missing`, its arguments are invalid (`usage`), the project has no such
`script`, it was run in the wrong `folder`, there is no `permission` to run it, the container or
daemon of the `service` that would run it is not up, or it was `stopped` before it did anything."""

_READ_CHARS = 4000
_MOST_LINES = 30
_NAME = r"['\"`\u2018]?([\w@./+-]{1,80})['\"`\u2019]?"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return lazy_pattern("|".join(f"(?:{one})" for one in alternatives), re.IGNORECASE)


_SHELL = r"^(?:(?:\S*/)?(?:ba|z|da|k|fi)?sh:(?:\d+:)?|\(eval\):\d+:) (?:line )?(?:\d+: )?"
_PATTERNS: tuple[tuple[Reason, re.Pattern[str]], ...] = (
    (
        "missing",
        _pattern(
            _SHELL + r"command not found: " + _NAME,
            _SHELL + _NAME + r": (?:command )?not found",
            _SHELL + r"unknown command:? " + _NAME,
            _SHELL + _NAME + r": no such file or directory$",
            r"^(?:bundler: )?command not found: " + _NAME,
            r"^" + _NAME + r": command not found",
            _NAME + r" is not recognized as (?:an internal|the name|a name)",
            r"(?:exec: |failed to spawn:? )" + _NAME + r"(?:: executable file not found|$)",
            r"\bspawn " + _NAME + r" ENOENT",
            r"^(?:/usr/bin/)?env: " + _NAME + r": no such file or directory",
            r"^(?:\S*/)?python[\d.]*: no module named " + _NAME,
            r"could not determine executable to run|\bnpx canceled\b",
            r"^executable file not found in \$PATH",
        ),
    ),
    (
        "script",
        _pattern(
            r"missing script:? " + _NAME,
            r"script not found " + _NAME,
            r"\bcommand " + _NAME + r" not found",
            r"no rule to make target " + _NAME,
            r"justfile does not contain recipe " + _NAME,
            r"\btask " + _NAME + r" (?:does not exist|not found)",
            r"no tasks? (?:named )?" + _NAME + r" found",
            r"don't know how to build task " + _NAME,
            r"unknown lifecycle phase " + _NAME,
            r"no such (?:sub)?command:? " + _NAME,
            r"err_pnpm_no_script",
            r"^nx\s+cannot find (?:project|configuration for task) " + _NAME,
            r"\b(?:environments|sessions) not found\b(?:[^:]*: " + _NAME + ")?",
        ),
    ),
    (
        "folder",
        _pattern(
            r"\bcd: .{0,200}(?:no such file or directory|can't cd to|not a directory)",
            r"(?:could not (?:read|find)|no|cannot find) [`'\"]?(?:a )?(?:package\.json|cargo\.toml"
            r"|composer\.json|pyproject\.toml|gemfile|pubspec\.yaml|mix\.exs)",
            r"enoent.{0,200}package\.json",
            r"^go: (?:go\.mod file not found|cannot find main module)",
            r"directory prefix .{1,200} does not contain (?:main module|modules listed)",
            r"could not find `?cargo\.toml",
            r"could not (?:find|locate) (?:a )?(?:pyproject\.toml|gemfile|composer\.json)",
            r"no makefile found",
            r"no configuration file provided: not found",
            r"\bMSB1003\b",
            r"does not contain a gradle build",
            r"there is no pom in this directory",
            r"can't open file .{1,300}\[errno 2\]",
            r"^error: file or directory not found",
        ),
    ),
    (
        "usage",
        _pattern(
            r"unrecognized (?:sub)?(?:command|option|argument)s?:? " + _NAME,
            r"unexpected (?:argument|option)s?:? " + _NAME,
            r"(?:unknown|invalid|illegal|unsupported) (?:sub)?(?:command|option|flag|switch)"
            r"s?\b(?:(?: --|:|\s)+" + _NAME + ")?",
            r"no such option:? " + _NAME,
            r"flag provided but not defined: " + _NAME,
            r"unknown shorthand flag",
            r"the following arguments are required",
            r"option requires an argument",
        ),
    ),
    (
        "service",
        _pattern(
            r"^(?:error: )?service " + _NAME + r" is not running",
            r"^error response from daemon: (?:container " + _NAME + r" is not running"
            r"|no such container)",
            r"^(?:error: )?no (?:such )?container (?:found )?(?:for|with name) ",
            r"^(?:error: )?cannot connect to the docker daemon",
        ),
    ),
    ("permission", _pattern(_SHELL + _NAME + r": permission denied$")),
)
_SPEAKS = lazy_pattern(
    r"(?i)not found|no such|unknown|unrecogni[sz]ed|unexpected|invalid|illegal|missing|ENOENT|cd:"
    r"|no rule|no task|don't know|could not|cannot find|can't open|not recogni[sz]ed|no module"
    r"|not defined|requires? |required|spawn|exec|does not|there is no|MSB1003|no script"
    r"|permission denied|is not running|no container|cannot connect|unsupported"
    r"|no makefile|no configuration|no package\.json"
)
_RAISED = lazy_pattern(r"[\w.]+(?:Error|Exception)\b: ")
"""How a program's own exceptions begin, which quote anything."""


class NotStarted(NamedTuple):
    """Why a command could not do its work: what is to blame, and the line that says so."""

    reason: Reason = ""
    name: str = ""
    said: str = ""


def start_failure(output: str, *, code: int | None = None) -> NotStarted:
    """Return why a command could not do its work, by what it printed, which is short then."""
    if len(output) > _READ_CHARS:
        return NotStarted()
    lines = [line.strip() for line in uncoloured(output).split("\n") if line.strip()]
    if len(lines) > _MOST_LINES:
        return NotStarted()
    for line in lines:
        if _RAISED.match(line) or not _SPEAKS.search(line):
            continue
        for reason, pattern in _PATTERNS:
            if match := pattern.search(line[:500]):
                name = one_line(next(filter(None, match.groups()), ""), 80)
                return NotStarted(reason=reason, name=name, said=one_line(line[:500], 200))
    return NotStarted(reason="missing" if code == 127 else "permission" if code == 126 else "")


_LOOPS = frozenset({"for", "while", "until"})
_PIPEFAIL = re.compile(r"\b(?:set|(?:ba|z|k)?sh)\s[^;&|\n]{0,200}\bpipefail\b")
"""Options stand near their command; a line of nothing but shells would take quadratic time."""
_ERREXIT = re.compile(r"\bset\s+-[a-df-z]*e|\b(?:ba|da|z|k)?sh\s+-[a-df-z]*e")
_LEAVING = frozenset({"exit", "return", "false"})
_ANSWERING = word_set("grep egrep fgrep rg ag diff cmp test [ [[ pgrep")
_GIT_ANSWERING = word_set(
    "merge-base diff show-ref rev-parse ls-files cat-file config check-ignore"
)
_ASKING = word_set(
    "--is-ancestor --quiet -q --exit-code --verify --exists --error-unmatch -e --get --get-all"
    " --get-regexp check-ignore"
)
"""With these, git's exit code answers a question: 1 is no failure."""


class ExitStatus(NamedTuple):
    """Whether an exit code of 0, and another one, is that of the commands which matter."""

    success: bool = True
    failure: bool = True


@lru_cache(maxsize=2048)
def exit_status_of(command: str) -> ExitStatus:
    """Return what the exit code of a command line proves; any text gives an answer."""
    parts = command_line.simple_commands(command)
    heads = [part for part in command_line.leading_commands(parts) if part.words[0] not in _LEAVING]
    if not heads:
        return ExitStatus()
    first_words = {words[0] for _, words in split(command)}
    if "!" in first_words or is_in_background(command):
        return ExitStatus(success=False, failure=False)
    pipefail, errexit = bool(_PIPEFAIL.search(command)), bool(_ERREXIT.search(command))
    shown = {"|": pipefail, "&&": True, ";": errexit}
    start = next(at for at, part in enumerate(parts) if part is heads[0])
    is_sure = _LOOPS.isdisjoint(first_words) and not any(  # who had nothing to run is no success
        XARGS in head.wrapping for head in heads
    )
    return ExitStatus(
        success=is_sure
        and all(  # a failure before each of them still shows
            part.words[0] in _LEAVING if part.sign == "||" else shown.get(part.sign, False)
            for part in parts[start + 1 :]
        ),
        failure=_shows_failure(parts, heads, pipefail=pipefail, errexit=errexit),
    )


def is_in_background(command: str) -> bool:
    """Return True if a command line ends in `&`, or a subshell at its end does."""
    end = command.rstrip().removesuffix(")").rstrip()
    return end.endswith("&") and not end.endswith(("&&", ">&"))


def _shows_failure(
    parts: Sequence[SimpleCommand], heads: Sequence[SimpleCommand], *, pipefail: bool, errexit: bool
) -> bool:
    last, is_answer = parts[-1], answers(parts[-1])
    is_own = last.words[0] in _LEAVING or any(last is head for head in heads)
    if is_own and (not is_answer or all(map(answers, heads))):
        return True
    if is_answer:
        return False
    started = [at for at, part in enumerate(parts) if part.sign in {";", "&"}]
    statement = parts[0 if errexit or not started else started[-1] :]
    if not pipefail:
        piped = list(takewhile(lambda part: part.sign == "|", reversed(statement)))
        # What fails before the last pipe keeps that from being run.
        statement = statement[: max(len(statement) - len(piped) - 1, 0)] if piped else statement
    return any(part is head for part in statement for head in heads)


def answers(part: SimpleCommand) -> bool:
    """Return True if the exit code of a command is the answer to a question."""
    program = program_name(part.words[0])
    verb = command_line.git_words(part.words) if program == "git" else []
    is_git = not _GIT_ANSWERING.isdisjoint(verb[:1]) and not _ASKING.isdisjoint(verb)
    return program in _ANSWERING or is_git
