"""The syntax of a note's text: claims, tags and wiki links.

A claim is a list item that states one thing: `- [category] text #tag (context)`. A wiki link names
a note by title, `[[Title]]`, and may say how it relates: `- relation [[Title]] (context)`. Any text
can be parsed, and what was formatted is parsed to an equal value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from observer.core.model import Link, title_key
from observer.core.note_file import Claim
from observer.core.text import one_line
from observer.core.value import Value

MAX_CLAIMS = 500
"""Most claims of one note."""
LINE_CHARS = 2_000
"""A longer line is not a claim."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[([^\[\]()]{2,60})\]\s+(\S.*)")
_CONTEXT = re.compile(r"\(([^()]+)\)\Z")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def parse_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a note, in order, without tasks, timecodes, links and code."""
    found = (claim for line in prose(text) if (claim := _claim(line)))
    return tuple(islice(found, MAX_CLAIMS))


def tags_in(text: str) -> tuple[str, ...]:
    """Return the `#tags` of a text without `#`, in order, without duplicates and numbers."""
    words = (word for word in text.split() if word.startswith("#"))
    parts = (part.strip(".,;:!?()'\"") for word in words for part in word.split("#"))
    return tuple(dict.fromkeys(part for part in parts if any(map(str.isalpha, part))))


def prose(text: str) -> Iterator[str]:
    """Yield the lines outside of fenced code."""
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
    # `[x]` marks a task, `[0:30]` a time, and `[!note]` a callout of an editor.
    if len(category) < 2 or not category[0].isalpha():
        return None
    context = ""
    if (last := _CONTEXT.search(said)) and last.start() and last[1].strip():
        said, context = said[: last.start()].rstrip(), last[1].strip()
    return Claim(category=category, text=said, tags=tags_in(said), context=context)


def _spaced(text: str) -> str:
    return " ".join(text.split())


MAX_LINKS = 100
"""Most links of one note."""
TITLE_CHARS = 200
_LINK = re.compile(rf"\[\[([^\[\]|#]{{1,{TITLE_CHARS}}})(?:[|#][^\[\]]{{0,{TITLE_CHARS}}})?\]\]")
_ALONE = re.compile(
    rf"\s*(?:[-*+]|\d{{1,9}}[.)])\s+(?:([\w-]{{1,60}})|\"([^\"\[\]]{{1,60}})\")\s+"
    rf"{_LINK.pattern}(?:\s+\(([^()]+)\))?\s*"
)
_CONDITION = re.compile(r"\[\[\s")
_CODE = re.compile(r"`[^`]*`")


class WikiLink(Value):
    """A link by title; `relation` and `context` are given if it is a list item of its own."""

    title: str
    relation: str = ""
    context: str = ""


def parse_links(text: str) -> tuple[WikiLink, ...]:
    """Return the links of a text in order, without duplicates, aliases and anchors."""
    found: dict[tuple[str, str], WikiLink] = {}
    for line in prose(text) if "[[" in text else ():
        if "[[" not in line:
            continue
        plain = _CODE.sub(" ", line)
        links = [WikiLink(title=_spaced(title)) for title in _LINK.findall(plain)]
        if alone := _ALONE.fullmatch(plain):
            word, words, title, context = (_spaced(part or "") for part in alone.groups())
            links = [WikiLink(title=title, relation=word or words, context=context)]
        for link in links:
            if link.title and len(found) < MAX_LINKS:
                found.setdefault((title_key(link.title), link.relation), link)
    return tuple(found.values())


_ACT = re.compile(
    rf"(?<![\w-])(supersedes|replaces|amends):?[ \t]+"
    rf"(?:(#\d{{1,18}})(?!\w)|memory://([^\s\]]{{1,{TITLE_CHARS}}})|{_LINK.pattern})",
    re.IGNORECASE,
)


def acts(text: str) -> tuple[Link, ...]:
    """Return what a note says to do to other notes, which it names by title.

    The keyword stands right before the name: `supersedes #12`, `amends [[Title]]`,
    `replaces memory://folder/permalink`; `#12` and the end of a permalink are kept as titles.
    """
    found: dict[tuple[str, str], Link] = {}
    for line in prose(text):
        for keyword, number, permalink, title in _ACT.findall(_CODE.sub(" ", line)):
            kind = "amends" if keyword.lower() == "amends" else "supersedes"
            name = number or permalink.rstrip(".,;:!?)").rpartition("/")[2] or title
            link = Link(kind=kind, title=one_line(name.strip(), TITLE_CHARS))
            found.setdefault((kind, title_key(name)), link)
    return tuple(found.values())[:MAX_LINKS]


def mentions(text: str) -> tuple[Link, ...]:
    """Return links to the notes that a prompt or commit message names as `[[Title]]`.

    Conditions of a shell (`[[ -f x ]]`) and lists of numbers are none.
    """
    titles = (link.title for link in parse_links(_CONDITION.sub(" ", text)))
    return tuple(
        Link(kind="wiki", title=one_line(title, TITLE_CHARS))
        for title in titles
        if any(map(str.isalpha, title))
    )
