"""Inotify watches of single folders, so that ignored folders cost nothing.

The only user of watchfiles' recorder: watchfiles' own loop watches whole trees only, and in its
lenient mode swallows the error that the kernel's limit is reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from watchfiles import Change
from watchfiles._rust_notify import RustNotify

STEP_MS = 200
"""How often the recorder checks whether its wait was ended; the only cost of waiting."""
LIMITS = ("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches")
SHARE = 2
"""We use at most this part of the watches that the user may have: editors watch too."""
MORE = (
    "raise the limit with: sudo sysctl fs.inotify.max_user_watches=524288"
    " fs.inotify.max_user_instances=512 (to keep it, write it to a file in /etc/sysctl.d),"
    " or turn watching off with: observer config set watch false"
)

OFTEN_MS = 2_000


class WatchLimitReached(Exception):
    """The kernel's limit of watches is reached; the message says what to do."""


class WatchDenied(WatchLimitReached):
    """A folder may not be watched; the message names it."""


class WatchLost(Exception):
    """The changes are not known: a folder is gone, or a file name is not valid UTF-8."""


class WakeUp(Protocol):
    """Something that ends a wait early."""

    def is_set(self) -> bool:
        """Return True to end the wait."""


class InotifyWatch:
    """Watches folders, not what is below them, until `close`.

    Args:
        folders: absolute.
        step_ms: changes within this time are returned together.
        often_ms: where changes never stop for so long, they are returned so often.

    Raises:
        WatchLimitReached: the kernel's limits do not allow it.
        WatchDenied: a folder is not ours to read.
        WatchLost: a folder does not exist.
    """

    def __init__(
        self, folders: Iterable[str], *, step_ms: int = STEP_MS, often_ms: int = OFTEN_MS
    ) -> None:
        self._step_ms = step_ms
        self._often_ms = often_ms
        try:
            self._recorder = RustNotify(
                list(folders),
                debug=False,
                force_polling=False,
                poll_delay_ms=0,
                recursive=False,
                ignore_permission_denied=False,
            )
        except FileNotFoundError as error:
            raise WatchLost(str(error)) from error
        except PermissionError as error:
            raise WatchDenied(f"{error}; make it readable, or exclude it") from error
        except (OSError, RuntimeError) as error:
            why = "cannot watch more folders" if isinstance(error, OSError) else str(error)
            raise WatchLimitReached(f"{why}: {MORE}") from error

    def wait(self, call: WakeUp, *, wait_ms: int) -> set[str]:
        """Return the paths that changed, as soon as there are some; none at the end of the wait.

        Raises:
            WatchLost: see there.
        """
        return {path for _, path in self._changes(call, wait_ms)}

    def has_news(self, call: WakeUp, *, wait_ms: int) -> bool:
        """Wait like `wait`; return True if there is more than what was deleted.

        Raises:
            WatchLost: see there.
        """
        return any(kind != Change.deleted for kind, _ in self._changes(call, wait_ms))

    def _changes(self, call: WakeUp, wait_ms: int) -> set[tuple[int, str]]:
        try:
            changes = self._recorder.watch(self._often_ms, self._step_ms, wait_ms, call)
        except RuntimeError as error:
            raise WatchLost(str(error)) from error
        return set() if isinstance(changes, str) else changes

    def close(self) -> None:
        """Remove all watches."""
        self._recorder.close()


def most_folders() -> int:
    """Return how many folders may be watched: `1 / SHARE` of the user's limit."""
    limits = [int(text) for path in map(Path, LIMITS) if (text := _read(path)).isdigit()]
    return min(limits, default=1 << 20) // SHARE


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:  # not Linux, or without that limit
        return ""
