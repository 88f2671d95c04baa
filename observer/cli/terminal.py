"""Tables and progress bars on a terminal, by rich, which honours `NO_COLOR`.

Progress goes to stderr, and only if that is a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text


def draw(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under column names, folded to the terminal's width; cells are plain text."""
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        drawn.add_column(name, overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar inside the block; call what is yielded with the count done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=hidden) as shown:
        task = shown.add_task(name, total=total)
        yield lambda count: shown.advance(task, count)
