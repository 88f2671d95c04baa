"""Clients that went quiet: their own files say that they are used, and no event came of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from observer.clients.client import Client
from observer.clients.config_files.context import InstallContext
from observer.core.paths import Home
from observer.core.text import age_text
from observer.store.database import SqliteStore

QUIET_MS = 86_400_000
"""Longest time between an event and a later change of a client's own files that is no sign."""
RECENT_MS = 7 * 86_400_000
"""What was used before then may have been used without hooks."""
MOST_ENTRIES = 20_000
"""So many files of a client are looked at."""


class Quiet(NamedTuple):
    """A client that was used at `used_ms`, and whose last event is of `last_ms`; 0 for none."""

    client: str
    used_ms: int
    last_ms: int
    at_ms: int

    def __str__(self) -> str:
        """Return what a person should know of it."""
        since = f"for {age_text(self.at_ms - self.last_ms)}" if self.last_ms else "so far"
        used = age_text(self.at_ms - self.used_ms)
        return f"{self.client} sent nothing {since}; its own files say you used it {used} ago"

    @property
    def hint(self) -> str:
        """What to do about it."""
        return (
            f"restart it and trust the folder; then: observer install {self.client},"
            " and send one prompt"
        )


def find_quiet(
    client: Client, context: InstallContext, last: Mapping[str, int], *, at_ms: int
) -> Quiet | None:
    """Return a client as quiet if it was used a day or more after its last event."""
    walks = (os.walk(context.user_home / folder) for folder in client.transcripts)
    files = (Path(around, name) for walk in walks for around, _, names in walk for name in names)
    plain = (path for path in islice(files, MOST_ENTRIES) if path.is_file())
    used_ms = max((_changed_ms(path) for path in plain if not path.is_symlink()), default=0)
    if not used_ms or used_ms < at_ms - RECENT_MS:
        return None
    last_ms = last_report(client, last) or 0
    # What was used before the hooks were there could not report it.
    since_ms = max(last_ms, _changed_ms(context.home.hooks))
    return Quiet(client.name, used_ms, last_ms, at_ms) if used_ms - since_ms > QUIET_MS else None


def last_reports(home: Home) -> Mapping[str, int]:
    """Return when each client last reported something, by its name; raise StoreUnavailable."""
    if not home.database.exists():
        return {}
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        return reader.last_reports()


def last_report(client: Client, last: Mapping[str, int]) -> int | None:
    """Return when a client, or another form of it such as its IDE, last reported something."""
    forms = (at_ms for name, at_ms in last.items() if f"{name}-".startswith(f"{client.name}-"))
    return max(forms, default=None)


def _changed_ms(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_mtime_ns // 1_000_000
    return 0
