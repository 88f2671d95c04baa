"""Strips observer's own commands: what they say is in the memory already, and only there.

On the way to redaction. `observer remember …` and `observer purge …` are kept as commands without
their words, and what observer answered is not kept at all: a copy in the log would outlive the
note's being forgotten, and show to all what is one person's. Where a line is too twisted to read,
more of it goes.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.events import Command, Event, Intent

_OPTION = r"-\S{1,200}\s+"
_QUOTED = r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'"
_LAUNCHER = (
    r"(?:\S{0,200}/)?(?:python[\d.]*|py|uvx?|pipx|poetry|pdm|hatch|conda|micromamba|sudo|doas|env|time"
    r"|timeout|nice|nohup|stdbuf|xargs|command|exec|builtin|run|tool|watch|wsl"
    r"|then|do|else|if|elif|while|until|and|or|not|begin|!|\{|\()"
)
_SCRIPT = re.compile(
    r"(?:\b(?:ba|z|da|k|fi)?sh\s+(?:-\S+\s+){0,4}-\w{0,8}c|\beval|\bssh\s[^\n;|&\"']{1,200}"
    r"|\bsu\s[^\n;|&\"']{0,200}-c)\s*[\"']|[$<>]\(|`"
)
"""Where commands begin in quotes or brackets of their own: where one ends there cannot be known."""
_OWN = re.compile(
    rf"""
    (?:{_SCRIPT.pattern}|(?P<pipe>(?<!\|)\|&?(?!\|))|[;&|({{]|^)\s{{0,99}}+
    (?:(?:[A-Za-z_]\w*=(?:{_QUOTED}|[^\s\"'])*|{_LAUNCHER}|\d+[smhd]?)\s+
       (?:{_OPTION}(?:(?!-|\S*observer\s)[^\s;|&]{{1,200}}\s+)?){{0,6}}){{0,8}}
    [\"']?(?:[^\s\"';|&]{{0,200}}/)?observer(?:-memory)?
    (?:\.exe|\.__main__|[@=]=?[\w.]{{1,30}})?[\"']?
    (?:[ \t]+-\S{{1,200}})*[ \t]+(?:\\\n[ \t]*)?[\"']?
    (?:(?P<writes>remember|note|forget|purge)
      |recall|search|timeline|show|why|context|sessions|usage|export)\b[\"']?
    """,
    re.MULTILINE | re.VERBOSE,
)
_WORDS = re.compile(
    r"(?:'(?:\\'|[^'])*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|\\.|[<>]&\d?|&>|[^'\"\\;|&\n])*",
    re.DOTALL,
)
"""What belongs to one command; quotes that nobody closes hold all that follows."""
_LEFT_OUT = " …"


def strip_self_commands(event: Event) -> Event:
    """Return the event without what a command gave to observer, and without the answer.

    The event itself where there is nothing of the kind.
    """
    body = event.body
    act = body.of if isinstance(body, Intent) else body
    if not isinstance(act, Command) or (quiet := _quiet(act)) is act:
        return event
    return replace(event, body=replace(body, of=quiet) if isinstance(body, Intent) else quiet)


def _quiet(command: Command) -> Command:
    line = command.command
    if "observer" not in line or _OWN.search(line) is None:
        return command
    stripped = _without_words(line)
    said = command.description if stripped == line else ""
    return replace(command, command=stripped, output="", description=said)


def _without_words(line: str) -> str:
    """Return a command line without the words of notes; what is piped into one goes with them."""
    kept = ""
    at = 0
    script = _SCRIPT.search(line)
    plain_until = script.start() if script else len(line)
    for found in _OWN.finditer(line):
        if found["writes"] and found.start() >= at:
            piped = found.end("pipe")
            kept = (
                line[piped : found.end()].lstrip() if piped > 0 else kept + line[at : found.end()]
            )
            kept += _LEFT_OUT
            at = _end_of_words(line, found) if found.start() < plain_until else len(line)
    return kept + line[at:]


def _end_of_words(line: str, found: re.Match[str]) -> int:
    words = next(_WORDS.finditer(line, found.end()))[0]
    has_document = "<<" in words or (found["pipe"] and "<<" in line[: found.start()])
    return len(line) if has_document else found.end() + len(words.rstrip())
