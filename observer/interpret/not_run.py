"""Calls of a shell that never ran, by what the client answered in their place.

Part of interpretation (step 6). A call that was refused, blocked or cancelled says nothing about
the code: it neither failed nor passed.
"""

from __future__ import annotations

import re

from observer.events import Command
from observer.interpret.verdict import Verdict

_READ_CHARS = 2000
_ERROR_TAG = re.compile(r"</?tool_use_error>|</?error>")
_NEVER = {
    "refused": re.compile(
        r"The user doesn't want to (?:proceed with|take) this|(?:The )?[Uu]ser (?:has )?(?:rejected"
        r"|denied|declined|refused|skipped|aborted|cancell?ed)\b|exec command rejected by user"
        r"|Claude requested permissions? |Permission to (?:use|run) .{1,400}? denied"
        r"|This (?:command|tool use|Bash command) requires (?:approval|permission)"
        r"|Tool (?:use|call) (?:was )?(?:rejected|denied)",
        re.DOTALL,
    ),
    "interrupted": re.compile(r"\[?Request interrupted by user"),
    "blocked": re.compile(
        r"(?:\w+:)?PreToolUse(?::\w+)?(?: \[.{1,200}?\])? ?(?:hook )?(?:error|blocked|denied|:)"
        r"|(?:Hook|Command|Operation|This command|Execution) (?:was |has been |is )?"
        r"(?:blocked|denied|disallowed)\b|.{1,300}? was blocked\. For security",
        re.DOTALL,
    ),
    "cancelled": re.compile(
        r"Sibling tool call errored|Cancell?ed(?:\Z|[.:] )|Tool (?:use|call) (?:was )?"
        r"(?:aborted|cancell?ed)"
    ),
    "invalid call": re.compile(r"InputValidationError|(?:Error: )?No such tool available"),
}
_IN_BACKGROUND = re.compile(
    r"Command (?:is )?running in (?:the )?background|Started background (?:process|task|command)"
    r"|Command (?:was )?(?:moved to|did not complete .{1,200}? moved to) (?:the )?background",
    re.DOTALL,
)
BACKGROUND = "running in the background"
_INTERRUPTED = "[Request interrupted by user"
_BY_SIGINT = 130
_EXITED_BY_SIGINT = re.compile(rf"Exit code {_BY_SIGINT}$", re.MULTILINE)
TIMED_OUT = re.compile(
    r"(?i)\W*(?:\w+[ :]+){0,3}command (?:\w+ ){0,8}(?:timed out after|timeout(?: of)?) \d"
)
"""How clients say that they have waited long enough, in a line of its own."""
_KEYBOARD = re.compile(r"^!{3,} (?:[\w.]+: )?KeyboardInterrupt !{3,}$", re.MULTILINE)
"""What pytest prints before the counts of an interrupted run."""


def read(command: Command) -> Verdict | None:
    """Return the verdict of a call that did not run, or has not ended; None of any other."""
    if command.exit_code is not None or not command.output:
        return None
    text = _ERROR_TAG.sub("", command.output[:_READ_CHARS]).strip()
    if _IN_BACKGROUND.match(text):
        return Verdict(said=BACKGROUND)
    if command.failed is False:
        return None
    for reason, pattern in _NEVER.items():
        if pattern.match(text):
            return Verdict(said=f"not run: {reason}", was_run=False)
    return None


def is_interrupted(command: Command) -> bool:
    """Return True if somebody put an end to the command: what it would have come to is unknown."""
    return (
        command.interrupted
        or command.exit_code == _BY_SIGINT
        or _INTERRUPTED in command.output[-200:]
        or _EXITED_BY_SIGINT.match(command.output) is not None
        or _KEYBOARD.search(command.output[-_READ_CHARS:]) is not None
    )


def is_timed_out(command: Command) -> bool:
    """Return True if the client says that it stopped the command at its time limit."""
    if command.exit_code is not None or command.failed is False:
        return False
    text = _ERROR_TAG.sub("", f"{command.output[:_READ_CHARS]}\n{command.output[-_READ_CHARS:]}")
    lines = text.strip().split("\n")
    return any(map(TIMED_OUT.match, (*lines[:2], lines[-1])))
