"""Wiki links: what a note points at by title, `[[Title]]`, and how it says that it relates.

Pure. Any text can be read; what was read and written is read again as it was.
"""

from __future__ import annotations

import re

from observer.events import Value
from observer.interpret.claims import prose
from observer.model import title_key

MOST = 100
"""Links read from one note."""
TITLE_CHARS = 200

_LINK = re.compile(rf"\[\[([^\[\]|#]{{1,{TITLE_CHARS}}})(?:[|#][^\[\]]{{0,{TITLE_CHARS}}})?\]\]")
_ALONE = re.compile(
    rf"\s*(?:[-*+]|\d{{1,9}}[.)])\s+(?:([\w-]{{1,60}})|\"([^\"\[\]]{{1,60}})\")\s+"
    rf"{_LINK.pattern}(?:\s+\(([^()]+)\))?\s*"
)
_CODE = re.compile(r"`[^`]*`")


class WikiLink(Value):
    """A link by title. `relation` is what a list item of nothing but a link calls it."""

    title: str
    relation: str = ""
    context: str = ""


def parse(text: str) -> tuple[WikiLink, ...]:
    """Return the different links of a text, in order; aliases and anchors are left out."""
    found: dict[tuple[str, str], WikiLink] = {}
    for line in prose(text):
        if "[[" not in line:
            continue
        for link in _of_line(_CODE.sub(" ", line)):
            if link.title and len(found) < MOST:
                found.setdefault((title_key(link.title), link.relation), link)
    return tuple(found.values())


def written(link: WikiLink) -> str:
    """Return a link as the line of a note."""
    plain = re.fullmatch(r"[\w-]{1,60}", link.relation)
    relation = link.relation if plain or not link.relation else f'"{link.relation}"'
    context = f" ({link.context})" if link.context else ""
    return f"- {relation} [[{link.title}]]{context}" if relation else f"- [[{link.title}]]"


def _of_line(line: str) -> list[WikiLink]:
    if alone := _ALONE.fullmatch(line):
        word, words, title, context = alone.groups()
        relation = _spaced(word or words)
        return [WikiLink(title=_spaced(title), relation=relation, context=_spaced(context or ""))]
    return [WikiLink(title=_spaced(title)) for title in _LINK.findall(line)]


def _spaced(text: str) -> str:
    return " ".join(text.split())
