"""`observer log`: what the daemon says of its work."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from observer.cli.output import as_json, json_option, limit_option, note, say, wants_json
from observer.core import moment
from observer.core.errors import NotFound
from observer.core.paths import home, open_plain

LOOK_S = 0.3
_STAMP = re.compile(r"\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")


@click.command("log", epilog="Example: observer log --follow")
@click.option("--follow", "-f", is_flag=True, help="Go on with what it says, until Ctrl-C.")
@limit_option(20, "Most lines.")
@json_option
def log_command(*, follow: bool, limit: int) -> None:
    """Show the last lines of the daemon's log."""
    path = home().logs / "daemon.log"
    try:
        file = _opened(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}", hint="start the daemon: observer up") from error
    with file:
        last = deque(file, limit)
        for line in last:
            _show(line)
        if not (last or wants_json()):
            note("nothing is logged yet; to hear more: observer config set log_level debug")
        for line in _following(path, file) if follow else ():
            _show(line)


def _show(line: str) -> None:
    """Print a line, at the time of whoever reads it."""
    text = line.rstrip("\n")
    if not as_json(text):
        say(
            _STAMP.sub(lambda at: moment.second_of(f"{at[1]}Z"), text)
            if moment.is_local()
            else text
        )


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
