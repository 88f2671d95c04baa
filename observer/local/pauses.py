"""Pauses: when, where and of which sessions nothing is recorded.

`paused` says what is paused now, as one line `UNTIL_S SCOPE` each, and is not there while nothing
is; hooks read it before they write anything. `pauses` keeps `FROM_MS UNTIL_MS SCOPE` of all, so
that what is read afterwards, such as a commit that a pull brings in, is left out as well.

A scope is `*` (everywhere), the absolute path of a folder, or `session=ID`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from observer.core.disk import UnexpectedFile, locked, read, replace
from observer.core.paths import is_inside, make_private

EVERYWHERE = "*"
OF_SESSION = "session="
UNENDING_MS = 9_999_999_999_000
MOST = 1_000  # pauses that are kept; the oldest go first
MOST_WITHHELD = 4_096


class Pause(NamedTuple):
    """When (UTC, in ms) and where nothing was or is recorded; `until_ms` is exclusive."""

    from_ms: int
    until_ms: int
    scope: str

    @property
    def is_unending(self) -> bool:
        """Whether it goes on until somebody ends it."""
        return self.until_ms >= UNENDING_MS

    def covers(self, at_ms: int, folders: Iterable[str], session: str = "") -> bool:
        """Return True if what happened at a time, in one of these folders, is left out."""
        if not self.from_ms <= at_ms < self.until_ms:
            return False
        if self.scope.startswith(OF_SESSION):
            return bool(session) and self.scope == OF_SESSION + session
        return self.scope == EVERYWHERE or any(is_inside(one, self.scope) for one in folders)


class Pauses:
    """The pauses of one spool folder; also which writes this process left out, for the watcher."""

    def __init__(self, folder: Path) -> None:
        self._active = folder / "paused"
        self._log = folder / "pauses"
        self._stamp: tuple[int, int, int] | None = None
        self._known: tuple[Pause, ...] = ()
        self._withheld: deque[tuple[str, int]] = deque(maxlen=MOST_WITHHELD)

    def __bool__(self) -> bool:
        """Return True if there is or was any pause."""
        return bool(self.all())

    def all(self) -> tuple[Pause, ...]:
        """Return all pauses that are known, the oldest first."""
        try:
            found = self._log.stat(follow_symlinks=False)
        except FileNotFoundError:
            self._stamp, self._known = None, ()
            return ()
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp != self._stamp:
            self._known, self._stamp = tuple(_read(self._log)), stamp
        return self._known

    def now(self, now_ms: int) -> list[Pause]:
        """Return the pauses that are not over."""
        return [pause for pause in self.all() if now_ms < pause.until_ms]

    def covers(self, at_ms: int, folders: Collection[str], session: str = "") -> bool:
        """Return True if what happened at a time is left out."""
        return any(pause.covers(at_ms, folders, session) for pause in self.all())

    def begin(self, scopes: Iterable[str], *, from_ms: int, until_ms: int) -> list[Pause]:
        """Pause anew in these scopes; return what began. Raises OSError: nothing was paused."""
        begun = [Pause(from_ms, until_ms, scope) for scope in scopes]
        with self._locked():
            ended = self._ended({pause.scope for pause in begun}, from_ms)
            self._write([*ended, *begun], from_ms)
        return begun

    def end(self, scopes: Collection[str] | None, *, now_ms: int) -> list[Pause]:
        """End the pauses of these scopes, or all; return which. Raises OSError: none ended."""
        with self._locked():
            going = self.now(now_ms)
            over = [pause for pause in going if scopes is None or pause.scope in scopes]
            self._write(self._ended({pause.scope for pause in over}, now_ms), now_ms)
        return over

    def tidy(self, now_ms: int) -> None:
        """Spare hooks the look at pauses that are over. Raises OSError: it cannot be written."""
        if self._active.exists() and not self.now(now_ms):
            with self._locked():
                self._write(list(self.all()), now_ms)

    def withhold(self, path: str, at_ms: int) -> None:
        """Note that a write of a file was left out."""
        self._withheld.append((path, at_ms))

    def withheld(self, *, from_ms: int, to_ms: int) -> list[tuple[str, int]]:
        """Return which writes were left out around a time, and when each was."""
        return [one for one in list(self._withheld) if from_ms <= one[1] <= to_ms]

    def _ended(self, scopes: Collection[str], now_ms: int) -> list[Pause]:
        return [
            pause._replace(until_ms=min(pause.until_ms, now_ms)) if pause.scope in scopes else pause
            for pause in self.all()
        ]

    def _write(self, pauses: list[Pause], now_ms: int) -> None:
        kept = [pause for pause in pauses if pause.from_ms < pause.until_ms][-MOST:]
        going = [pause for pause in kept if now_ms < pause.until_ms]
        lines = [f"{one.from_ms} {one.until_ms} {one.scope}\n" for one in kept]
        replace(self._log, os.fsencode("".join(lines)))
        if going:
            # Up to the next second: a hook knows no finer clock.
            shown = [f"{-(-one.until_ms // 1000)} {one.scope}\n" for one in going]
            replace(self._active, os.fsencode("".join(shown)))
        else:
            self._active.unlink(missing_ok=True)

    def _locked(self) -> AbstractContextManager[None]:
        return locked(make_private(self._log.parent))


def _read(path: Path) -> Iterator[Pause]:
    with suppress(FileNotFoundError, UnexpectedFile):
        data, _ = read(path)
        for line in os.fsdecode(data).splitlines():
            from_ms, _, rest = line.partition(" ")
            until_ms, _, scope = rest.partition(" ")
            if from_ms.isdecimal() and until_ms.isdecimal() and scope:
                yield Pause(int(from_ms), int(until_ms), scope)
