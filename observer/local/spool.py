"""The durable queue between hooks and the daemon, and the only code that knows its folders.

Hooks (and `append`) put envelopes in, the daemon claims them oldest first and acknowledges them
once they are stored: a crash means a replay, which is a no-op by the entry's id.

An event exists when its name is in `new/`. Its bytes are in `tmp/` under the same name, because a
shell can create a file without starting a process but cannot move one; a file in `new/` that is
not empty holds its own bytes. Shells append to logs instead, see `observer.local.logs`.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import re
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from observer.core.disk import (
    Deleter,
    SpoolEntry,
    UnexpectedFile,
    create,
    envelope,
    is_unreadable,
    read,
    remove,
    replace,
    settle,
)
from observer.core.paths import Home, make_private
from observer.local.logs import ShellLogs
from observer.local.pauses import Pauses

BATCH_BYTES = 32 << 20
LISTED = 50_000
"""Names that are kept of a backlog; when most of them are stored, it is listed again."""
MOST_REASONS = 1_000  # reasons that are read at once

_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_REASON = ".reason"
_FOREIGN = "foreign-"
_READER = ".reader"  # in `bad/`, the version that all of it was last given to
_HIDDEN = "."  # what begins like this is an editor's, a file system's or our own unfinished work


_Odd = Callable[[str, str], None]
"""Called with the name of something that no hook made, and what is odd about it."""


class _Waiting(NamedTuple):
    at_ms: int
    has_own_bytes: bool


class Spool:
    """The queue in one folder. One process drains it; any number may append or look.

    `claim` hands the same entries out again until they are acknowledged or quarantined. Its listing
    of `new/` is kept while it fills a batch: what arrives meanwhile is younger than all of it.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = [folder / name for name in ("tmp", "new", "bad", "shell")]
        self._tmp, self._new, self._bad, shell = self._folders
        # As text: a Path for each of 20,000 names costs more than opening it.
        self._bodies, self._names = f"{self._tmp}{os.sep}", f"{self._new}{os.sep}"
        self._logs = ShellLogs(shell)
        self.hold = self._logs.hand_out  # for entries that another process read; `ack` ends it
        self.home = Home(folder.parent)
        self._disposal = Deleter()
        self.pauses = Pauses(folder)
        self._queue: dict[str, _Waiting] = {}
        self._most_listed = LISTED

    def prepare(self, *, reader: str = "") -> None:
        """Create what is missing, for this user's eyes only; `retry` for a reader that is named."""
        spool = self._new.parent
        for folder in (spool.parent, spool, *self._folders):
            make_private(folder)
        if reader:
            self.retry(reader=reader)

    def append(self, fields: Mapping[str, str], payload: bytes = b"") -> str:
        """Put one envelope in, see it on the disk, and return its id.

        `fields` are at least `client` and `event`, and `at` (ms) if it did not happen just now;
        `payload` is what the client sent. Raises ValueError: a field cannot stand in an envelope;
        OSError: the disk is full or read-only, and no event was made.
        """
        name = uuid.uuid4().hex
        body = self._tmp / name
        create(body, envelope(fields, payload))
        settle(self._tmp)
        try:
            create(self._new / name, b"")
        except OSError:
            body.unlink(missing_ok=True)
            raise
        settle(self._new)
        return name

    def claim(self, *, at_most: int, at_most_bytes: int = BATCH_BYTES) -> list[SpoolEntry]:
        """Return the oldest entries; at least one if any waits, whatever its size.

        What no hook made is moved to `bad/`, unopened. An entry that the medium does not give is
        left where it is, and still counted by `depth`.
        """
        batch: list[SpoolEntry] = []
        size_bytes = 0
        for entry in islice(_merged(self._own_files(at_most), *self._logs.waiting()), at_most):
            size_bytes += len(entry.data)
            if batch and size_bytes > at_most_bytes:
                break
            batch.append(entry)
        self.hold(batch)
        return batch

    def backlog(self) -> Iterator[SpoolEntry]:
        """Yield the oldest that waits, in order, for a process that reads ahead; change nothing."""
        waiting = self._listed(_leave, LISTED).items()
        own = (self._opened(name, known, _leave) for name, known in waiting)
        yield from _merged(filter(None, own), *self._logs.unread())

    def left(self) -> int:
        """Return how many entries the last `claim` knew of; more may wait."""
        return len(self._queue)

    def ack(self, entries: Iterable[SpoolEntry]) -> None:
        """Forget entries whose events are on the disk; those already forgotten are not an error."""
        entries = list(entries)
        for entry in entries:
            if entry.end is None:
                # The name goes first: bytes without a name are not an event, a name without bytes
                # would look like a loss.
                remove(entry.path)
        own = [entry.path.rpartition(os.sep)[2] for entry in entries if entry.end is None]
        if own:
            # A power cut could otherwise bring the names back, and not the bytes.
            settle(self._new)
        for name in own:
            self._queue.pop(name, None)
        self._disposal.delete([self._bodies + name for name in own])
        self._logs.finish(entries)

    def quarantine(self, entry: SpoolEntry, *, reason: str, kept: bytes) -> None:
        """Put an entry that cannot become events into `bad/`: what is `kept` of it, redacted."""
        replace(self._bad / entry.id, kept)
        at_ns = entry.at_ms * 1_000_000
        os.utime(self._bad / entry.id, ns=(at_ns, at_ns))
        self._explain(entry.id, reason)
        settle(self._bad)
        self.ack([entry])

    def retry(self, *, reader: str = "") -> int:
        """Put what is in `bad/` back into the queue, but for what no hook made; return how much.

        `reader` is the version that reads, which is given everything once; "" gives it again.
        Safe beside the process that drains. Raises OSError: the folder cannot be written.
        """
        stamp = self._bad / _READER
        with suppress(FileNotFoundError):
            if reader and stamp.read_text("utf-8", errors="replace") == reader:
                return 0
        # Events, and neither reasons nor what no hook made.
        unread = [
            item
            for item in _scan(self._bad)
            if not item.name.startswith((_HIDDEN, _FOREIGN))
            and not item.name.endswith(_REASON)
            and item.stat().st_size > 0
        ]
        for item in unread:
            (self._bad / item.name).rename(self._new / item.name)
            remove(self._bad / f"{item.name}{_REASON}")
        settle(self._new)
        settle(self._bad)
        if reader:
            replace(stamp, reader.encode())
        return len(unread)

    def depth(self) -> int:
        """Count the entries that wait, shells' records included."""
        return sum(1 for _ in chain(self._waiting(), *self._logs.unread()))

    def is_empty(self) -> bool:
        """Return True if no entry waits, shells' records included; stops at the first one."""
        logs = chain.from_iterable(self._logs.unread())
        return next(chain(self._waiting(), logs), None) is None

    def bad(self) -> int:
        """Count what is in `bad/`."""
        with suppress(FileNotFoundError), os.scandir(self._bad) as found:
            return sum(1 for item in found if item.name.endswith(_REASON))
        return 0

    def bad_reasons(self) -> Iterator[str]:
        """Yield why entries are in `bad/`, for up to `MOST_REASONS` of them."""
        names = (item for item in _scan(self._bad) if item.name.endswith(_REASON))
        for item in islice(names, MOST_REASONS):
            with suppress(OSError, UnexpectedFile):
                yield read(item.path)[0].decode("utf-8", "replace")

    def oldest_ms(self) -> int | None:
        """Return the time of the entry that waits longest, None if none does."""
        times = [first.at_ms for log in self._logs.unread() for first in islice(log, 1)]
        for item in self._waiting():
            with suppress(FileNotFoundError):
                times.append(item.stat(follow_symlinks=False).st_mtime_ns // 1_000_000)
        return min(times, default=None)

    def sweep(self, *, before_ms: int) -> int:
        """Delete what killed hooks (if older than this) and dead shells left; return how many."""
        swept = 0
        for item in _scan(self._tmp):
            with suppress(FileNotFoundError):
                status = item.stat(follow_symlinks=False)
                at_ms = status.st_mtime_ns // 1_000_000
                is_old = not stat.S_ISDIR(status.st_mode) and at_ms < before_ms
                if is_old and not (self._new / item.name).exists():
                    (self._tmp / item.name).unlink()
                    swept += 1
        return swept + self._logs.clear()

    def _own_files(self, at_most: int) -> Iterator[SpoolEntry]:
        if len(self._queue) < at_most:
            self._queue = self._listed(self._set_aside, max(at_most, self._most_listed))
        listed = len(self._queue)
        for name, waiting in list(self._queue.items()):
            if entry := self._opened(name, waiting, self._set_aside):
                yield entry
            else:
                del self._queue[name]
        # Nothing but what cannot be read may be older than what can.
        self._most_listed = 2 * listed if listed >= self._most_listed else LISTED

    def _listed(self, odd: _Odd, at_most: int) -> dict[str, _Waiting]:
        """Return the oldest that waits, in order: of 400,000 a list takes 400 MB."""
        oldest = heapq.nsmallest(at_most, self._plain_files(odd))
        return {name: _Waiting(ns // 1_000_000, has_bytes) for ns, name, has_bytes in oldest}

    def _plain_files(self, odd: _Odd) -> Iterator[tuple[int, str, bool]]:
        """Yield when each file of `new/` was written (ns), its name, and whether it has bytes."""
        for item in self._waiting():
            with suppress(FileNotFoundError):
                status = item.stat(follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    odd(item.name, "it is not a plain file")
                else:
                    yield status.st_mtime_ns, item.name, status.st_size > 0

    def _opened(self, name: str, waiting: _Waiting, odd: _Odd) -> SpoolEntry | None:
        path = self._names + name
        try:
            data, fault = read(path if waiting.has_own_bytes else self._bodies + name)
        except FileNotFoundError:
            if (self._new / name).exists():
                odd(name, "its bytes are not in tmp")
            return None
        except UnexpectedFile as foreign:
            odd(name, str(foreign))
            return None
        except OSError as error:
            if is_unreadable(error):
                return None
            raise
        identifier = name
        if not _NAME.fullmatch(name):  # no hook gives it: a stable stand-in, fit for every use
            identifier = f"{_FOREIGN}{hashlib.sha256(os.fsencode(name)).hexdigest()}"
        return SpoolEntry(identifier, data, waiting.at_ms, path, fault=fault)

    def _set_aside(self, name: str, reason: str) -> None:
        """Move something that no hook made to `bad/` as it is, without opening it."""
        target = f"{_FOREIGN}{uuid.uuid4().hex}"
        try:
            (self._new / name).rename(self._bad / target)
        except OSError:
            # Somebody else's folder in ours, say. It stays, and `depth` goes on counting it.
            return
        self._explain(target, f"{name!r} was in new/, but {reason}")

    def _explain(self, name: str, reason: str) -> None:
        replace(self._bad / f"{name}{_REASON}", reason.encode("utf-8", "backslashreplace"))

    def _waiting(self) -> Iterator[os.DirEntry[str]]:
        return (item for item in _scan(self._new) if not item.name.startswith(_HIDDEN))


def _leave(_name: str, _reason: str) -> None:
    """Let lie what is not ours to move."""


def _merged(*sources: Iterable[SpoolEntry]) -> Iterator[SpoolEntry]:
    return heapq.merge(*sources, key=lambda entry: entry.at_ms)


def _scan(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(FileNotFoundError), os.scandir(folder) as found:
        yield from found
