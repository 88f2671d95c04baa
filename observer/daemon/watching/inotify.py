"""The kernel's word on what changes in folders, each watched by itself: ignored ones cost nothing.

The only place that uses watchfiles' recorder directly: its own loop knows whole trees only, and
swallows the error that says that the kernel's limit is reached where it is told to be lenient.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from watchfiles._rust_notify import RustNotify

STEP_MS = 200
"""How often the recorder looks whether it was called away; all that waiting costs."""
LIMITS = ("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches")
SHARE = 2
"""We take one part in so many of what this user may watch: editors watch too."""
MORE = (
    "raise the limit with: sudo sysctl fs.inotify.max_user_watches=524288"
    " fs.inotify.max_user_instances=512 (to keep it, write it to a file in /etc/sysctl.d),"
    " or turn watching off with: observer config set watch false"
)

_OFTEN_MS = 2_000


class WatchLimitReached(Exception):
    """The kernel watches no more folders for this user; says why, and what to do."""


class WatchLost(Exception):
    """What changed cannot be told: a folder went, or a file's name is no text. Look yourself."""


class WakeUp(Protocol):
    """Something that ends a wait early."""

    def is_set(self) -> bool:
        """Whether it is time."""


class InotifyWatch:
    """Watches folders, not what is below them, until `close`.

    Raises:
        Blind: the kernel's limits do not allow it.
        Lost: a folder is not there any more.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        try:
            self._recorder = RustNotify(
                list(folders),
                debug=False,
                force_polling=False,
                poll_delay_ms=0,
                recursive=False,
                ignore_permission_denied=False,
            )
        except (FileNotFoundError, PermissionError) as error:
            raise WatchLost(str(error)) from error
        except (OSError, RuntimeError) as error:
            why = "cannot watch more folders" if isinstance(error, OSError) else str(error)
            raise WatchLimitReached(f"{why}: {MORE}") from error

    def wait(self, call: WakeUp, *, wait_ms: int) -> set[str]:
        """Return the paths that changed, as soon as there are some; none if called or in vain.

        Raises:
            Lost: see there.
        """
        try:
            told = self._recorder.watch(_OFTEN_MS, STEP_MS, wait_ms, call)
        except RuntimeError as error:
            raise WatchLost(str(error)) from error
        return set() if isinstance(told, str) else {path for _, path in told}

    def close(self) -> None:
        """Give the watches back."""
        self._recorder.close()


def most_folders() -> int:
    """Return how many folders may be watched without taking from others what they need."""
    limits = [int(text) for path in map(Path, LIMITS) if (text := _read(path)).isdigit()]
    return min(limits, default=1 << 20) // SHARE


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:  # no Linux, or one without that limit
        return ""
