"""Claims: the lines of a note that state one thing each, `- [category] text #tag (context)`.

Pure. Any text can be read; a claim that was read and written is read again as it was.

Wiki links: what a note points at by title, `[[Title]]`, and how it says that it relates.

Pure. Any text can be read; what was read and written is read again as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from observer.core.model import title_key
from observer.core.value import Value

MAX_CLAIMS = 500
"""Claims read from one note."""
LINE_CHARS = 2_000
"""A longer line states more than one thing."""

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[([^\[\]()]{2,60})\]\s+(\S.*)")
_CONTEXT = re.compile(r"\(([^()]+)\)\Z")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


class Claim(Value):
    """One statement. `tags` stand in its text as `#tag`, `context` stood in brackets behind it."""

    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str = ""


def parse_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a note, in order; tasks, timecodes, links and code are none."""
    found: list[Claim] = []
    for line in prose(text):
        if len(found) == MAX_CLAIMS:
            break
        if claim := _claim(line):
            found.append(claim)
    return tuple(found)


def format_claim(claim: Claim) -> str:
    """Return a claim as the line of a note."""
    context = f" ({claim.context})" if claim.context else ""
    return f"- [{claim.category}] {claim.text}{context}"


def tags_in(text: str) -> tuple[str, ...]:
    """Return the different `#tags` of a text, without the mark, in order; a number is none."""
    words = (word for word in text.split() if word.startswith("#"))
    parts = (part.strip(".,;:!?()'\"") for word in words for part in word.split("#"))
    return tuple(dict.fromkeys(part for part in parts if any(map(str.isalpha, part))))


def prose(text: str) -> Iterator[str]:
    """Yield the lines that stand outside fenced code."""
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence:
            yield line


def _claim(line: str) -> Claim | None:
    if len(line) > LINE_CHARS or not (item := _ITEM.fullmatch(line)):
        return None
    category, said = map(_spaced, item.groups())
    # One sign is a task's mark, a first digit a time, and others begin what editors fold.
    if len(category) < 2 or not category[0].isalpha():
        return None
    context = ""
    if (last := _CONTEXT.search(said)) and last.start() and last[1].strip():
        said, context = said[: last.start()].rstrip(), last[1].strip()
    return Claim(category=category, text=said, tags=tags_in(said), context=context)


def _spaced(text: str) -> str:
    return " ".join(text.split())


MAX_LINKS = 100
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


def parse_links(text: str) -> tuple[WikiLink, ...]:
    """Return the different links of a text, in order; aliases and anchors are left out."""
    found: dict[tuple[str, str], WikiLink] = {}
    for line in prose(text):
        if "[[" not in line:
            continue
        for link in _of_line(_CODE.sub(" ", line)):
            if link.title and len(found) < MAX_LINKS:
                found.setdefault((title_key(link.title), link.relation), link)
    return tuple(found.values())


def format_link(link: WikiLink) -> str:
    """Return a link as the line of a note."""
    plain = re.fullmatch(r"[\w-]{1,60}", link.relation)
    relation = link.relation if plain or not link.relation else f'"{link.relation}"'
    context = f" ({link.context})" if link.context else ""
    return f"- {relation} [[{link.title}]]{context}" if relation else f"- [[{link.title}]]"


def _of_line(line: str) -> list[WikiLink]:
    if alone := _ALONE.fullmatch(line):
        word, words, title, context = alone.groups()
        relation = _spaced_wikilinks(word or words)
        return [
            WikiLink(
                title=_spaced_wikilinks(title),
                relation=relation,
                context=_spaced_wikilinks(context or ""),
            )
        ]
    return [WikiLink(title=_spaced_wikilinks(title)) for title in _LINK.findall(line)]


def _spaced_wikilinks(text: str) -> str:
    return " ".join(text.split())
