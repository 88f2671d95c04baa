"""Progress bars on a terminal, by rich; they go to stderr, and only if that is one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar inside the block; call what is yielded with the count done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=hidden) as shown:
        task = shown.add_task(name, total=total)
        yield lambda count: shown.advance(task, count)
