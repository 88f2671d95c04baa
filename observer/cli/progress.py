"""A bar that shows how far long work has come, on stderr and only where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar for a while; it is moved on by calling what is lent with a count."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=hidden) as shown:
        task = shown.add_task(name, total=total)
        yield lambda count: shown.advance(task, count)
