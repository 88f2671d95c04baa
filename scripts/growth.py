#!/usr/bin/env python3
"""Draw how a home grows: `docs/images/growth.svg`, from the table in `docs/explanation/scale.md`.

    scripts/growth.py

A panel for each column beside the first, both axes logarithmic: what grows as the number of items
does is a line as steep as the dashed one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
TABLE, PICTURE = DOCS / "explanation" / "scale.md", DOCS / "images" / "growth.svg"

WIDTH, HEIGHT, LEFT, TOP, SIDE = 300, 260, 46, 40, 200
"""Of a panel, and of the square in it, in pixels."""
_NUMBER = re.compile(r"[\d,]+(?:\.\d+)?")

Points = Sequence[tuple[float, float]]


def rows(page: str) -> tuple[list[str], list[list[float]]]:
    """Return the heads of the first table of a page, and the numbers of each row."""
    first = page[page.index("\n|") + 1 :].splitlines()
    lines = takewhile(lambda line: line.startswith("|"), first)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    numbers = [
        [float(_NUMBER.findall(cell)[0].replace(",", "")) for cell in row] for row in cells[2:]
    ]
    return cells[0], numbers


def drawn(heads: Sequence[str], numbers: Sequence[Sequence[float]]) -> str:
    """Return the picture of a table as SVG."""
    width = WIDTH * (len(heads) - 1)
    title = f"{', '.join(heads[1:])}, each by {heads[0]}"
    panels = "".join(
        _panel(place * WIDTH, name, [(row[0], row[place + 1]) for row in numbers], heads[0])
        for place, name in enumerate(heads[1:])
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + TOP}" role="img"'
        ' aria-labelledby="title" font-family="system-ui, sans-serif" font-size="12">\n'
        f'  <title id="title">{title}</title>\n'
        "  <style>text { fill: #263238; text-anchor: middle; } .axis { fill: none; stroke:"
        " #546e7a; } .even { stroke: #b0bec5; stroke-dasharray: 4 4; } .line { fill: none; stroke:"
        " #b28704; stroke-width: 2; } .dot { fill: #b28704; } .name { font-weight: 600; }</style>\n"
        f'  <rect width="{width}" height="{HEIGHT + TOP}" fill="#ffffff"/>\n{panels}</svg>\n'
    )


def _panel(left: int, name: str, points: Points, base: str) -> str:
    least, most = _decades(y for _, y in points)
    first, last = _decades(x for x, _ in points)
    span = max(most - least, last - first)
    x0, y0 = left + LEFT, TOP + SIDE

    def at(x: float, y: float) -> str:
        across, up = (math.log10(x) - first) / span, (math.log10(y) - least) / span
        return f"{x0 + SIDE * across:.1f} {y0 - SIDE * up:.1f}"

    text = [
        f'<text class="name" x="{x0 + SIDE / 2:g}" y="24">{name}</text>',
        f'<path class="axis" d="M{x0} {TOP} V{y0} H{x0 + SIDE}"/>',
        f'<path class="axis even" d="M{x0} {y0} L{x0 + SIDE} {TOP}"/>',
        f'<path class="line" d="M{" L".join(at(*point) for point in points)}"/>',
        f'<text x="{x0 + SIDE / 2:g}" y="{y0 + 36}">{base}</text>',
    ]
    for x, y in points:
        cx, cy = at(x, y).split()
        text.append(f'<circle class="dot" cx="{cx}" cy="{cy}" r="4"/>')
        text.append(f'<text x="{cx}" y="{float(cy) - 9:.1f}">{y:g}</text>')
    for power in range(span + 1):
        step = SIDE * power / span
        text.append(f'<text x="{x0 + step:.1f}" y="{y0 + 18}">{10 ** (first + power):,}</text>')
        text.append(f'<text x="{x0 - 20}" y="{y0 - step + 4:.1f}">{10 ** (least + power):,}</text>')
    return "".join(f"  {line}\n" for line in text)


def _decades(values: Iterator[float]) -> tuple[int, int]:
    """Return the powers of ten around some numbers."""
    found = list(values)
    return math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))


if __name__ == "__main__":
    PICTURE.write_text(drawn(*rows(TABLE.read_text(encoding="utf-8"))), encoding="utf-8")
