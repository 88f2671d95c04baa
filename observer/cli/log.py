"""`observer log`: what happens, and what the daemon says of its work."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from observer.cli import output
from observer.cli.commands import Given, command
from observer.cli.read import rows_of
from observer.cli.session import written
from observer.core import moment
from observer.core.errors import NotFound
from observer.core.paths import home, open_plain
from observer.core.text import one_line
from observer.local import client
from observer.tools.asking import FIRST_SESSION, colour_of, nothing, scope_line

Row = dict[str, Any]  # of the question "happened"

LOOK_S = 0.3
RECENT = 200
"""Items, the newest, among which is looked for what is new."""
_STAMP = re.compile(r"\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")


@command("log", "observer log --follow")
@click.option("--follow", "-f", is_flag=True, help="Go on as things happen, until Ctrl-C.")
@click.option("--daemon", is_flag=True, help="What the daemon says of its work instead.")
@output.limit_option(20, "Most lines.", most=RECENT)
@output.scope_options
def log_command(*, follow: bool, daemon: bool, limit: int, **scope: Given) -> None:
    """Show turns, and what was done, line by line."""
    if daemon:
        _show_daemons(follow=follow, limit=limit)
        return
    if follow:
        client.ensure_daemon(home())
    for row in _lines(limit, scope, follow=follow):
        if not output.as_json(row):
            before = (moment.minute_of(row["created_at"])[5:], row.get("project", "-"))
            colour = colour_of(row["type"], failed=row["failed"])
            cells, title = zip(before, (11, 14), strict=True), one_line(row["title"], 300)
            output.marked_line(cells, row["type"], title, colour=colour)
        sys.stdout.flush()


def _lines(limit: int, scope: dict[str, Any], *, follow: bool) -> Iterator[Row]:
    """Yield the last lines of what happened; with `follow` go on without end."""
    seen, stamp = set[tuple[int, str]](), written()
    where, found = rows_of("happened", limit=RECENT, records=True, **scope)
    from_ms = found[-1]["at_ms"] if len(found) == RECENT else 0
    lines = list(_unseen(found, seen, from_ms))[-limit:]
    if not output.wants_json():
        output.say(where)
        if not lines:
            whole = where == scope_line("")
            output.say(nothing("nothing is recorded yet", FIRST_SESSION, everywhere=whole))
    yield from lines
    while follow:
        while (now := written()) == stamp:
            time.sleep(LOOK_S)
        stamp = now
        _, found = rows_of("happened", limit=RECENT, records=True, **scope)
        yield from _unseen(found, seen, from_ms)


def _unseen(rows: Sequence[Row], seen: set[tuple[int, str]], from_ms: int) -> Iterator[Row]:
    """Yield what is new among rows, which come newest first, the oldest of it first.

    A turn is followed by its reply when that comes. What is older than `from_ms` comes up where
    others are deleted, and is not new.
    """
    replies = [{**row, **row["reply"], "type": "reply"} for row in reversed(rows) if row["reply"]]
    for each in sorted([*reversed(rows), *replies], key=lambda row: int(row["at_ms"])):
        key = (each["id"], each["type"])
        if each["at_ms"] >= from_ms and key not in seen:
            seen.add(key)
            yield each


def _show_daemons(*, follow: bool, limit: int) -> None:
    path = home().logs / "daemon.log"
    try:
        file = _opened(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}", hint="start the daemon: observer up") from error
    with file:
        last = deque(file, limit)
        for line in last:
            _show_line(line)
        if not (last or output.wants_json()):
            output.note("nothing is logged yet; to hear more: observer config set log_level debug")
        for line in _following(path, file) if follow else ():
            _show_line(line)


def _show_line(line: str) -> None:
    text = line.rstrip("\n")
    if not output.as_json(text):
        local = _STAMP.sub(lambda at: moment.second_of(f"{at[1]}Z"), text)
        output.say(local if moment.is_local() else text)


def _opened(path: Path) -> TextIO:
    return os.fdopen(open_plain(path, os.O_RDONLY), encoding="utf-8", errors="replace")


def _following(path: Path, file: TextIO) -> Iterator[str]:
    """Yield lines as they are written, also into the file that follows a full one."""
    while True:
        yield from file
        if path.exists() and path.stat().st_ino != os.fstat(file.fileno()).st_ino:
            file.close()
            file = _opened(path)
        sys.stdout.flush()
        time.sleep(LOOK_S)
