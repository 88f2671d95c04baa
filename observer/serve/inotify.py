"""What the kernel says of single folders: ignored ones cost nothing, and who waits sleeps."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from watchfiles import Change
from watchfiles._rust_notify import RustNotify

OFTEN_S = 2.0  # changes that never stop are returned so often
LIMITS = ("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches")
SHARE = 2  # we use at most this part of the watches that the user may have: editors watch too
MORE = (
    "raise the limit with: sudo sysctl fs.inotify.max_user_watches=524288"
    " fs.inotify.max_user_instances=512 (to keep it, write it to a file in /etc/sysctl.d),"
    " or turn watching off with: observer config set watch false"
)


class WatchRefused(Exception):
    """The kernel's limit is reached, or a folder may not be read; the message says what to do."""


class WatchLost(Exception):
    """The changes are not known: a folder is gone, or a file name is not valid UTF-8."""


class Call:
    """Ends a wait from any thread, until it is cleared."""

    def __init__(self) -> None:
        self._is_set = False
        self._reading, self._writing = os.pipe()
        for end in (self._reading, self._writing):
            os.set_blocking(end, False)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self._reading)
        close(self._writing)

    def fileno(self) -> int:
        """Return what becomes readable with the call."""
        return self._reading

    def is_set(self) -> bool:
        """Return True to end the wait."""
        return self._is_set

    def set(self) -> None:
        """Call."""
        self._is_set = True
        with suppress(BlockingIOError):  # called often enough
            os.write(self._writing, b"!")

    def clear(self) -> None:
        """Let the next wait last."""
        self._is_set = False
        with suppress(BlockingIOError):
            os.read(self._reading, 1 << 16)

    def wait(self, wait_s: float) -> bool:
        """Wait for the call; return False if it did not come."""
        return self._is_set or bool(_readable([self], int(wait_s * 1000)))


def watch_folders(
    folders: Iterable[str],
    *,
    arrivals: Collection[str] = (),
    step_ms: int = 200,
) -> FolderWatch:
    """Begin to watch folders; in those that are `arrivals` only what is new or put there counts.

    Changes within `step_ms` are returned together. Raises WatchRefused: the kernel's limits do not
    allow it, or a folder is not ours to read; WatchLost: a folder does not exist.
    """
    kind = _Inotify if sys.platform == "linux" else _Recorder
    try:
        return kind(folders, arrivals, step_ms)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise WatchLost(str(error)) from error
    except PermissionError as error:
        raise WatchRefused(f"{error}; make it readable, or exclude it") from error
    except (OSError, RuntimeError) as error:
        why = "cannot watch more folders" if isinstance(error, OSError) else str(error)
        raise WatchRefused(f"{why}: {MORE}") from error


_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM = 2, 4, 8, 64
_MOVED_TO, _CREATE, _DELETE = 128, 256, 512
_SELF = 1024 | 2048
_OVERFLOW, _IGNORED, _ONLY_FOLDERS = 1 << 14, 1 << 15, 1 << 24
_ARRIVALS = _CREATE | _MOVED_TO | _SELF | _ONLY_FOLDERS
_ALL = _ARRIVALS | _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _DELETE
_EVENT = struct.Struct("iIII")
"""Watch, mask, cookie, and bytes of the name that follows. Source: inotify(7)."""


class _Inotify:
    """Watches folders, not what is below them, until `close`."""

    def __init__(self, folders: Iterable[str], arrivals: Collection[str], step_ms: int) -> None:
        self._step_s = step_ms / 1000
        self._folders: dict[int, str] = {}
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._called("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            for folder in folders:
                mask = _ARRIVALS if folder in arrivals else _ALL
                named = (os.fsencode(folder), mask)
                watch = self._called("inotify_add_watch", self._descriptor, *named, path=folder)
                self._folders[watch] = folder
        except OSError:
            self.close()
            raise

    def wait(self, call: Call, *, wait_ms: int | None = None) -> set[str]:
        """Return the paths that changed, soon; none at the end of the wait. Raise WatchLost."""
        found: set[str] = set()
        if not call.is_set():
            _readable([self._descriptor, call], wait_ms)
        until_s = time.monotonic() + OFTEN_S
        while news := set(self._changes()):
            found |= news
            if call.wait(self._step_s) or time.monotonic() > until_s:
                break
        return found

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _changes(self) -> Iterator[str]:
        try:
            data = os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return
        place = 0
        while place < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, place)
            place += _EVENT.size + length
            if mask & _OVERFLOW:
                raise WatchLost("more changed at once than the kernel remembers")
            if mask & _IGNORED:
                self._folders.pop(watch, None)
            elif folder := self._folders.get(watch):
                try:
                    name = data[place - length : place].rstrip(b"\0").decode()
                except UnicodeDecodeError as error:
                    raise WatchLost(f"a file in {folder} has a name that is not UTF-8") from error
                yield f"{folder}/{name}" if name else folder

    def _called(self, name: str, *arguments: int | bytes, path: str | None = None) -> int:
        result: int = getattr(self._libc, name)(*arguments)
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)
        return result


def _readable(sources: Iterable[int | Call], wait_ms: int | None) -> list[tuple[int, int]]:
    poll = select.poll()
    for each in sources:
        poll.register(each, select.POLLIN)
    return poll.poll(wait_ms)


class _Recorder:
    """FSEvents and the like; the loop of watchfiles itself would watch whole trees."""

    AT_LEAST_MS, AT_MOST_MS = 20, 10_000

    def __init__(self, folders: Iterable[str], arrivals: Collection[str], step_ms: int) -> None:
        self._arrivals = arrivals
        self._times_ms = int(OFTEN_S * 1000), max(step_ms, self.AT_LEAST_MS)
        self._recorder = RustNotify(
            list(folders),
            debug=False,
            force_polling=False,
            poll_delay_ms=0,
            recursive=False,
            ignore_permission_denied=False,
        )
        self.close = self._recorder.close

    def wait(self, call: Call, *, wait_ms: int | None = None) -> set[str]:
        try:
            changes = self._recorder.watch(*self._times_ms, wait_ms or self.AT_MOST_MS, call)
        except RuntimeError as error:
            raise WatchLost(str(error)) from error
        return {
            path
            for kind, path in ([] if isinstance(changes, str) else changes)
            if kind != Change.deleted or path.rpartition("/")[0] not in self._arrivals
        }


FolderWatch: TypeAlias = _Inotify | _Recorder


def most_folders() -> int:
    """Return how many folders may be watched: `1 / SHARE` of the user's limit."""
    limits = []
    for path in map(Path, LIMITS):
        with suppress(OSError, ValueError):  # not Linux, or without that limit
            limits.append(int(path.read_text(encoding="ascii")))
    return min(limits, default=1 << 20) // SHARE
