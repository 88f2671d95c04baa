"""The colour of what is listed, by what it means: the same on every terminal screen."""

from __future__ import annotations

_BY_TYPE = {
    **dict.fromkeys(("turn", "reply"), "cyan"),
    **dict.fromkeys(("commit", "fix"), "green"),
    **dict.fromkeys(("decision", "rule", "constraint", "heuristic", "rejected"), "yellow"),
    **dict.fromkeys(("fact", "preference", "context"), "magenta"),
    **dict.fromkeys(("file-write", "delegation", "summary"), "blue"),
}


def colour_of(kind: str, *, failed: bool = False) -> str:
    """Return the name of a colour of the terminal's eight for a type of item, "" for none.

    Red is what failed; cyan what a person asked; green what was made; yellow what holds.
    """
    return "red" if failed else _BY_TYPE.get(kind, "")
