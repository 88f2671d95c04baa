"""How hooks learn that a daemon died, without asking it: a file that is valid for some minutes.

`daemon.alive` has a modification time in the future, renewed as long as a daemon lives; hooks
compare it with the file that they have just written. It names what starts a daemon. Whoever finds
that it has run out makes `daemon.waking`, which only one can, and starts one: so a thousand hooks
start one daemon, and one that cannot start is tried again after `RETRY_S`. `observer down` takes
the file away: who was stopped on purpose stays down until somebody asks for it.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from observer.paths import Home, open_plain

BEAT_S, LEASE_S = 60.0, 180.0
RETRY_S = 600.0


def renew(home: Home) -> None:
    """Say that a daemon lives; errors cost no more than that nobody knows."""
    parent = Path(__file__).parents[2]
    # Else it is a checkout that nobody installed.
    is_installed = parent.name in {"site-packages", "dist-packages"}
    told = f"{sys.executable}\n{'' if is_installed else parent}\n"
    with suppress(OSError):
        _write(home.alive, told.encode(), valid_s=LEASE_S)
        home.waking.unlink(missing_ok=True)


def end(home: Home) -> None:
    """Have no hook start a daemon any more, until one was started otherwise."""
    for path in (home.alive, home.waking):
        path.unlink(missing_ok=True)


def postpone(home: Home) -> None:
    """Have hooks wait before they try again, if one of them asked for this start."""
    if home.waking.exists():
        with suppress(OSError):
            _write(home.waking, b"failed\n", valid_s=RETRY_S)


def _write(path: Path, content: bytes, *, valid_s: float) -> None:
    with os.fdopen(open_plain(path, os.O_WRONLY | os.O_CREAT), "wb") as file:
        file.write(content)
        file.truncate()
    until = time.time() + valid_s
    os.utime(path, (until, until))
