"""The logs of interactive shells, read as a part of the spool; see `hooks/README.md`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from observer.core.disk import (
    LARGEST_BYTES,
    SpoolEntry,
    UnexpectedFile,
    envelope,
    is_unreadable,
    open_plain,
    replace,
    settle,
)
from observer.core.paths import read_plain

_NAME = re.compile(r"(bash|zsh|fish)-([0-9]{1,10})-([0-9]{1,20})")
_MARK = b"\0\0"
_STORED = ".stored"
"""Suffix of the file beside a log that holds the offset up to which its records are stored."""
_TIME_DIGITS = 15
_BLANK_BYTES = 1 << 20


class Log(NamedTuple):
    """One shell's log; a dead shell's last record counts as it is."""

    path: Path
    shell: str
    pid: int
    is_dead: bool


class LogRecord(NamedTuple):
    """The bytes between two marks, the offset of their first, and the one behind the mark."""

    data: bytes
    start: int
    end: int


class ShellLogs:
    """The folder of the logs; an offset moves only over records that are all done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handed: dict[str, dict[int, bool]] = {}

    def waiting(self) -> list[Iterator[SpoolEntry]]:
        """Return, for each log, its entries in the order of their offsets, read as they are drawn.

        What was not finished comes again; what dead shells left and is stored is deleted.
        """
        self._handed = {}
        return [_entries(log) for log in self._logs() if not _retire(log)]

    def unread(self) -> Iterator[Iterator[SpoolEntry]]:
        """Yield the same, for one who only looks."""
        return map(_entries, self._logs())

    def hand_out(self, entries: Iterable[SpoolEntry]) -> None:
        """Note that the caller has these records now."""
        for entry in entries:
            if entry.end is not None:
                self._handed.setdefault(entry.path, {})[entry.end] = False

    def finish(self, entries: Iterable[SpoolEntry]) -> None:
        """Move the offsets over what is done."""
        touched = set()
        for entry in entries:
            ends = self._handed.get(entry.path, {})
            if entry.end in ends:
                ends[entry.end] = True
                touched.add(entry.path)
        for path in touched:
            self._advance(path)

    def blank(self) -> None:
        """Overwrite all that is stored, also what a process that was killed left standing."""
        for log in self._logs():
            _blank(log.path, 0, _stored_offset(log.path))

    def clear(self) -> int:
        """Delete what dead shells left and is stored; return how many logs."""
        gone = sum(_retire(log) for log in self._logs())
        for path in self._folder.glob(f"*{_STORED}"):
            if not path.with_name(path.name.removesuffix(_STORED)).exists():
                path.unlink(missing_ok=True)
        return gone

    def _logs(self) -> Iterator[Log]:
        try:
            paths = sorted(self._folder.iterdir())
        except FileNotFoundError:
            return
        for path in paths:
            if match := _NAME.fullmatch(path.name):
                yield Log(path, match[1], int(match[2]), _is_dead(int(match[2])))

    def _advance(self, path: str) -> None:
        ends = self._handed[path]
        stored = 0
        while ends and ends[first := next(iter(ends))]:
            stored = first
            del ends[first]
        if stored:
            log = Path(path)
            before = _stored_offset(log)
            replace(_stored_beside(log), b"%d" % stored)
            # After a power failure an old offset beside records that are half blank would have
            # their rest taken for others.
            settle(self._folder)
            _blank(log, before, stored)


def _is_dead(pid: int) -> bool:
    try:
        with suppress(PermissionError):  # a root shell in this user's home
            os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    return False


def _entries(log: Log) -> Iterator[SpoolEntry]:
    try:
        stored = _stored_offset(log.path)
        handle, status = open_plain(log.path)
        try:
            data = os.pread(handle, min(max(status.st_size - stored, 0), LARGEST_BYTES), stored)
        finally:
            os.close(handle)
    except (FileNotFoundError, UnexpectedFile):
        return
    except OSError as error:
        if is_unreadable(error):
            return
        raise
    fields = {"client": log.shell, "event": "command", "ppid": str(log.pid)}
    fields["host"] = os.uname().nodename
    for record in _records(data, stored, to_the_last=log.is_dead):
        at_ms = _ended_ms(record.data, status.st_mtime_ns // 1_000_000)
        whole = envelope({**fields, "at": str(at_ms)}, record.data)
        yield SpoolEntry(f"{log.path.name}@{record.start}", whole, at_ms, str(log.path), record.end)


def _records(data: bytes, offset: int, *, to_the_last: bool) -> Iterator[LogRecord]:
    """Cut at empty fields; a reading that is all one record and no end is cut where it stops."""
    is_endless = is_cut = len(data) == LARGEST_BYTES
    begin = 0
    while (mark := data.find(_MARK, begin)) >= 0:
        if record := _record(data, begin, mark, offset):
            is_endless = False
            yield record
        begin = mark + len(_MARK)
    takes_rest = is_endless or (to_the_last and not is_cut)
    if takes_rest and (record := _record(data, begin, len(data), offset)):
        yield record


def _record(data: bytes, begin: int, mark: int, offset: int) -> LogRecord | None:
    # What precedes the mark may begin with the last NUL of the mark before.
    record = data[begin:mark].lstrip(b"\0")
    if not record:
        return None
    end = min(mark + len(_MARK), len(data))
    return LogRecord(record.rstrip(b"\0"), offset + mark - len(record), offset + end)


def _ended_ms(record: bytes, written_ms: int) -> int:
    """Return when the command ended; the log's own time is the finer one within its second."""
    for field in record.split(b"\0"):
        name, _, value = field.partition(b"=")
        if value.isdigit() and len(value) <= _TIME_DIGITS:
            if name == b"end_ms":
                return int(value)
            if name == b"end_s":
                second = int(value)
                return written_ms if written_ms // 1000 == second else second * 1000
    return written_ms


def _blank(path: Path, start: int, end: int) -> None:
    """Overwrite records that nobody reads again: they stand there as they were typed."""
    with suppress(OSError):  # it is stored; `blank` tries again
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            end = min(end, os.fstat(handle).st_size)
            for at in range(start, end, _BLANK_BYTES):
                os.pwrite(handle, bytes(min(_BLANK_BYTES, end - at)), at)
        finally:
            os.close(handle)


def _stored_beside(path: Path) -> Path:
    return path.with_name(path.name + _STORED)


def _stored_offset(path: Path) -> int:
    try:
        text = read_plain(_stored_beside(path))
    except FileNotFoundError:
        return 0
    return int(text) if text.isdigit() and len(text) <= _TIME_DIGITS else 0


def _retire(log: Log) -> bool:
    try:
        if not log.is_dead or log.path.lstat().st_size > _stored_offset(log.path):
            return False
    except OSError:  # it is gone, or cannot be read now
        return False
    log.path.unlink(missing_ok=True)
    _stored_beside(log.path).unlink(missing_ok=True)
    return True
