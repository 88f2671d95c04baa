"""Shell histories of bash, zsh, fish and Atuin; what a history does not say is not made up."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer.clients.envelope import Object
from observer.clients.payload import number, text
from observer.core.clock import LAST_MS
from observer.core.config import Settings
from observer.core.events import Command, Event
from observer.core.routes import import_route
from observer.importers.database import opened
from observer.importers.source import FoundSession, Line, Problems, SessionSource, import_id, lines

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
    """Yield the commands of a history of bash; with times, all up to the next time is one."""
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


# --- the database of Atuin, with folder, exit code, duration and session --------------------------


def atuin(path: Path, problems: Problems) -> Iterator[Typed]:
    """Yield the commands of a database of Atuin; those of another machine have no folder here."""
    here = os.uname().nodename
    with opened(path, problems) as database:
        for row in database.rows("history") if database else ():
            command = text(row, "command").rstrip()
            at_ms = (row["timestamp"] if isinstance(row.get("timestamp"), int) else -1) // 1_000_000
            if row.get("deleted_at") or not command or command[0].isspace():
                continue
            if not 0 <= at_ms <= LAST_MS:
                problems.add("command without a time", path)
                continue
            host = text(row, "hostname").partition(":")[0]
            folder = text(row, "cwd")
            is_live = folder.startswith("/")
            yield Typed(
                command,
                at_ms,
                exit_code=_known(row, "exit"),
                duration_ms=None if (ns := _known(row, "duration")) is None else ns // 1_000_000,
                cwd=folder if is_live and host == here else "",
                session=text(row, "session") if is_live else "",
                host=host,
            )


def _known(row: Object, name: str) -> int | None:
    found = number(row, name)
    return found if found is not None and found >= 0 else None


_Reader = Callable[[Path, Problems], Iterator[Typed]]


def _find(reader: _Reader, paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    found = []
    for path in dict.fromkeys(paths):
        times = [one.at_ms or _written_ms(path) for one in reader(path, problems)]
        if times:
            size = path.stat().st_size
            found.append(FoundSession(str(path), (path,), "", min(times), max(times), size))
    return found


def _read(
    client: str, reader: _Reader, found: FoundSession, _: Settings, _problems: Problems
) -> Iterator[Event]:
    """Yield commands, of a second each once in all histories, else once at the file's time."""
    path = found.paths[0]
    written_ms = _written_ms(path)
    seen: Counter[tuple[int | None, str]] = Counter()
    for one in reader(path, Problems()):
        second = None if one.at_ms is None else one.at_ms // 1000
        seen[second, one.command] += 1
        if second is None and seen[second, one.command] > 1:
            continue
        name = (f"{second or client}", one.command, f"{seen[second, one.command]}")
        at_ms = written_ms if one.at_ms is None else one.at_ms
        yield Event(
            id=import_id("typed", *name),
            at_ms=at_ms,
            client=client,
            body=Command(
                command=one.command,
                exit_code=one.exit_code,
                failed=None if one.exit_code is None else one.exit_code != 0,
                duration_ms=one.duration_ms,
            ),
            session=one.session,
            cwd=one.cwd,
            host=one.host,
            route=import_route(client),
            author="person",
            branch="",  # what is checked out now says nothing of then
        )


def _written_ms(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def _source(name: str, place: tuple[str, str, str], reader: _Reader) -> SessionSource:
    return SessionSource(
        name,
        *place,
        find=partial(_find, reader),
        read=partial(_read, name, reader),
        is_of_sessions=False,
    )


SOURCES = (
    _source("atuin", (".local/share", "XDG_DATA_HOME", "atuin/history.db"), atuin),
    _source("bash", ("", "", ".bash_history"), bash),
    _source("zsh", ("", "ZDOTDIR", ".zsh_history"), zsh),
    _source("fish", (".local/share", "XDG_DATA_HOME", "fish/fish_history"), fish),
)
