"""Tables on a terminal. Colours go off with `NO_COLOR`, as rich does by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
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
