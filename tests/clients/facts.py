"""What tests need to know of each client: `facts.toml` beside its samples."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parents[1] / "data"
Files = dict[str, bytes]


class Facts(NamedTuple):
    """A configuration of somebody else's, and what the client's guide is called.

    `stays` are marks of it that must still be there; `broken` is a file that cannot be used;
    `needed` are files without which the client cannot be installed.
    """

    stays: list[str]
    files: Files
    broken: Files
    needed: Files
    guide: str


def facts_of(client: str, data: Path = DATA) -> Facts:
    """Return the facts of a client; a character of a file stands for its byte."""
    found = tomllib.loads((data / client / "facts.toml").read_text(encoding="utf-8"))
    files, broken, needed = (
        {path: text.encode("latin-1") for path, text in found.get(part, {}).items()}
        for part in ("files", "broken", "needed")
    )
    return Facts(found["stays"], files, broken, needed, found.get("guide", client))
