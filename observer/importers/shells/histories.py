"""The files in which bash, zsh and fish keep what was typed, as commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from observer.core.clock import LAST_MS
from observer.importers.jsonl import Line, Problems, lines

_STAMP = re.compile(rb"#(\d{9,11})\s*\Z")
_EXTENDED = re.compile(rb": {0,2}(\d{9,11}):(\d{1,9});")
_META = re.compile(rb"\x83(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\n])")
_COMMAND, _WHEN = b"- cmd: ", re.compile(rb"\s+when: (\d{9,11})\s*\Z")


class Typed(NamedTuple):
    """A command that a person typed; what is None or empty is not known."""

    command: str
    at_ms: int | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    cwd: str = ""
    session: str = ""
    host: str = ""


def bash(path: Path, problems: Problems) -> Iterator[Typed]:
    """Yield the commands of a history of bash.

    With times (`HISTTIMEFORMAT`), everything up to the next time is one command; without, each
    line is.
    """
    at_ms: int | None = None
    waiting: list[bytes] = []
    for line in lines(path, problems, with_empty=True):
        if stamp := _STAMP.match(line.data):
            yield from _typed(b"".join(waiting), at_ms)
            at_ms, waiting = _ms(stamp[1]), []
        elif at_ms is None:
            yield from _typed(line.data, None)
        else:
            waiting.append(line.data)
    yield from _typed(b"".join(waiting), at_ms)


def zsh(path: Path, problems: Problems) -> Iterator[Typed]:
    """Yield the commands of a history of zsh, plain or extended; a duration of 0 is not known."""
    for data in _unescaped_lines(lines(path, problems, with_empty=True)):
        data = _META.sub(lambda found: bytes([found[1][0] ^ 32]), data)  # noqa: PLW2901 - its meaning
        if head := _EXTENDED.match(data):
            yield from _typed(data[head.end() :], _ms(head[1]), 1000 * int(head[2]) or None)
        else:
            yield from _typed(data, None)


def fish(path: Path, problems: Problems) -> Iterator[Typed]:
    """Yield the commands of a history of fish."""
    command = b""
    at_ms: int | None = None
    for line in lines(path, problems):
        if line.data.startswith(_COMMAND):
            yield from _fish_typed(command, at_ms)
            command, at_ms = line.data.removeprefix(_COMMAND), None
        elif when := _WHEN.match(line.data):
            at_ms = _ms(when[1])
    yield from _fish_typed(command, at_ms)


def _unescaped_lines(found: Iterator[Line]) -> Iterator[bytes]:
    """Yield lines, those that a backslash ends with the ones that go on."""
    begun = b""
    for line in found:
        data = begun + line.data
        if data.endswith(b"\\\n"):
            begun = data[:-2] + b"\n"
        else:
            begun = b""
            yield data
    if begun:
        yield begun


def _fish_typed(command: bytes, at_ms: int | None) -> Iterator[Typed]:
    for one in _typed(command, at_ms):
        text = _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else "\\", one.command)
        yield one._replace(command=text)


def _typed(data: bytes, at_ms: int | None, duration_ms: int | None = None) -> Iterator[Typed]:
    command = data.decode("utf-8", "replace").rstrip()
    # As in a live shell: a blank in front keeps a command out.
    if command and not command[0].isspace():
        yield Typed(command, at_ms, duration_ms=duration_ms)


def _ms(seconds: bytes) -> int | None:
    at_ms = 1000 * int(seconds)
    return at_ms if at_ms <= LAST_MS else None


HISTORIES: Mapping[str, Callable[[Path, Problems], Iterator[Typed]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
