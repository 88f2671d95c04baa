"""Ordinary text of every day: what interfaces, headers, mails and tables hold, and people write.

`everyday.texts` is made up: a section begins with `== SORT`, and what is drawn in its lines is
drawn anew for every text. The rest is what the machine carries: manuals, change logs, read-mes,
licences, metadata of packages, and what npm has cached.
"""

from __future__ import annotations

import gzip
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from leaks.drawing import draw
from leaks.ordinary import Ordinary

EVERYDAY = "every day: "
"""What the sort of such a text begins with."""
_TEXTS = Path(__file__).with_name("everyday.texts")
_MOST_CHARACTERS = 1 << 17
_CARRIED = {
    "manuals": (["/usr/share/man"], ["*.[158]", "*.[158].gz"]),
    "change logs": (
        ["/usr/share/doc", "/usr/lib/node_modules", "/opt"],
        ["*[cC][hH][aA][nN][gG][eE]*", "README*", "NEWS*", "copyright", "*LICENSE*"],
    ),
    "npm's cache": (["~/.npm/_cacache/content-v2", "~/.npm/_cacache/index-v5"], ["*"]),
    "metadata": (
        [sysconfig.get_path("purelib")],
        ["METADATA", "*.json", "entry_points.txt", "*LICENSE*"],
    ),
}
"""Folders, and the names of what is read in them."""


def everyday(*, times: int, step: int) -> Iterator[Ordinary]:
    """Yield what is made up so often, and each so many'th file that the machine carries."""
    for section in f"\n{_TEXTS.read_text(encoding='utf-8')}".split("\n== ")[1:]:
        sort, _, lines = section.partition("\n")
        for number in range(times):
            yield Ordinary(f"{EVERYDAY}{sort}", f"text {number}", _drawn(lines, str(number)))
    for sort, (folders, names) in _CARRIED.items():
        roots = [Path(folder).expanduser() for folder in folders]
        found = {path for root in roots for name in names for path in root.rglob(name)}
        for path in sorted(found)[::step]:
            if path.is_file() and (text := _text(path)):
                yield Ordinary(f"{EVERYDAY}{sort}", str(path), text)


def _drawn(lines: str, seed: str) -> str:
    """Return lines with each drawn by a seed of its own."""
    return "\n".join(draw(line, f"{seed}|{place}") for place, line in enumerate(lines.split("\n")))


def _text(path: Path) -> str:
    """Return a file's text, unpacked; "" for what is none."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return data[:_MOST_CHARACTERS].decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        return ""
