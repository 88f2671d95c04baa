"""The database of Atuin, as commands: with folder, exit code, duration and session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from observer.clients.envelope import Object
from observer.clients.payload import number, text
from observer.core.clock import LAST_MS
from observer.importers.database import opened
from observer.importers.jsonl import Problems
from observer.importers.shells.histories import Typed


def atuin(path: Path, problems: Problems) -> Iterator[Typed]:
    """Yield the commands of a database of Atuin, without those that were deleted.

    Commands that Atuin itself imported, or that were typed on another machine, have no folder here.
    """
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
