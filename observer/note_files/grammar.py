"""What the lines of a Markdown note state: claims and relations, and its permalink.

A claim is a paragraph, heading or list item like `[category] text #tag (context)`, or any that has
a `#tag`. A relation is a list item `kind [[Target]] (context)`, or a `[[Target]]` anywhere. Code,
quotations, tasks, callouts and time codes state nothing. Any text can be parsed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from observer.core.note_file import Claim, NoteFileContent, Relation

LINKS_TO = "links_to"
MOST = 2_000
"""Most claims, and most relations, of one note."""
LINE_CHARS = 4_000
"""What is longer states nothing."""

_FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}|~{3,})")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?P<text>\S.*)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>\S.*?)(?:[ \t]+#+)?[ \t]*")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)")
_HTML = re.compile(r" {0,3}<[A-Za-z!/?]")
CODE_INDENT = 4


class _Block(NamedTuple):
    """The text of one paragraph, heading or list item, its lines joined."""

    text: str
    is_item: bool


def content_of(body: str) -> NoteFileContent:
    """Return the claims and relations of a note's body, in order."""
    claims: list[Claim] = []
    relations: dict[tuple[str, str], Relation] = {}
    for block in _blocks(body):
        if len(block.text) > LINE_CHARS:
            continue
        if len(claims) < MOST and (claim := _claim(block.text)):
            claims.append(claim)
        for relation in _relations(block):
            if len(relations) < MOST:
                relations.setdefault((relation.kind, relation.target), relation)
    return NoteFileContent(claims=tuple(claims), relations=tuple(relations.values()))


class _Line:
    """One line, and what kind of line it would be outside of code."""

    def __init__(self, line: str) -> None:
        self.said = line.strip()
        self.indent = len(line) - len(line.lstrip())
        self.fence = _FENCE.match(line)
        self.heading = _HEADING.fullmatch(line)
        is_rule = _RULE.fullmatch(line)
        self.item = None if is_rule else _ITEM.fullmatch(line)
        self.is_html = bool(_HTML.match(line))
        self.is_text = bool(self.said) and self.said[0] != ">" and not is_rule
        self.is_text = self.is_text and not (self.fence or self.heading or self.item)


def _blocks(body: str) -> Iterator[_Block]:
    """Yield what states something, with the rules of CommonMark as far as they matter here."""
    lines: list[str] = []
    is_item = False
    inside = 0  # column at which the text of the innermost list item begins
    for line in _outside_code(body):
        if line.is_text and (lines or not line.is_html):
            if lines or line.indent < (inside if line.indent >= inside else 0) + CODE_INDENT:
                is_item = is_item and bool(lines)
                lines.append(line.said)
            continue
        if lines:
            yield _Block("\n".join(lines), is_item)
            lines = []
        if line.heading:
            yield _Block(line.heading["text"], is_item=False)
        inside = 0 if line.heading else inside
        if line.item and line.indent < inside + CODE_INDENT:
            mark, gap = line.item["mark"], line.item["gap"]
            inside = line.indent + len(mark) + min(len(gap), CODE_INDENT)
            lines, is_item = [line.item["text"].strip()], True


def _outside_code(body: str) -> Iterator[_Line]:
    """Yield the lines of a body, blank ones in place of fenced code, and a blank one at its end."""
    fence = ""
    for text in [*body.replace("\r\n", "\n").split("\n"), ""]:
        line = _Line(text)
        if not fence and line.fence:
            fence = line.fence[1]
            yield _Line("")
        elif not fence:
            yield line
        elif line.said.startswith(fence) and not line.said.strip(fence[0]):
            fence = ""
    yield _Line("")


_CATEGORY = re.compile(r"\[([^\[\]()]+)\]\s+(\S.*)")
_NO_CATEGORY = re.compile(r"[^\w]|[xX]|!.*|\d{1,3}(?::\d{2})+(?:[.,]\d+)?", re.DOTALL)
"""Marks of tasks and callouts, and times."""
_UNCLEAR = re.compile(r"\[(?!\[)(?![^\[\]]*\]\()|(?:\[[^\[\]]*\]\([^()]*\)|!?\[\[[^\]]*\]\])\Z")
"""A task, a footnote, or nothing but a link."""
_AFTER_TAG = ".,;:!?)]}'\"`*"


def _claim(text: str) -> Claim | None:
    category, said = "", text
    if found := _CATEGORY.match(text):
        category, said = found[1].strip(), found[2].strip()
        if not category or _NO_CATEGORY.fullmatch(category):
            return None
    elif _UNCLEAR.match(text) or not any(word[0] == "#" for word in text.split()):
        return None
    said, context = _without_context(said)
    if not said:
        return None
    return Claim(category=category, text=said, tags=tags_in(said), context=context)


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags of a text without `#`, in order, without duplicates.

    >>> tags_in("Uses #sqlite, since #12 and #a#b")
    ('sqlite', '12', 'a', 'b')
    """
    words = (word for word in text.split() if word[0] == "#")
    parts = (part.rstrip(_AFTER_TAG) for word in words for part in word.split("#"))
    return tuple(dict.fromkeys(filter(None, parts)))


def _without_context(text: str) -> tuple[str, str]:
    """Part the parenthesis at the very end of a text from what is before it."""
    if text.endswith(")") and (start := text.rfind("(")) >= 0:
        return text[:start].rstrip(), text[start + 1 : -1].strip()
    return text, ""


_LINK = re.compile(r"\[\[(.+?)\]\]")
_CODE = re.compile(r"`[^`]*`")
_KIND = re.compile(r"""(?:"([^"\[\]]+)"|'([^'\[\]]+)'|([^\s\[\]"']\S*))\s+""")


def _relations(block: _Block) -> Iterator[Relation]:
    text = _CODE.sub(" ", block.text) if "`" in block.text else block.text
    if "[[" not in text:
        return
    found = [(link[1].strip(), link.span()) for link in _LINK.finditer(text)]
    found = [(target, span) for target, span in found if target]
    if block.is_item and len(found) == 1:
        [(target, (start, end))] = found
        kind, (rest, context) = _KIND.fullmatch(text[:start]), _without_context(text[end:].strip())
        if kind and not rest:
            name = kind[1] or kind[2] or kind[3]
            yield Relation(kind=name.strip(), target=target, context=context)
            return
    yield from (Relation(kind=LINKS_TO, target=target) for target, _ in found)


_CAMEL = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])")
_NOT_IN_SLUG = re.compile(r"[^\w./]+|_+")
_SPELLED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l"}
    | dict.fromkeys("'\u2019", "")
)
_MARKDOWN = (".md", ".markdown")


def permalink_of(path: str) -> str:
    """Return the permalink of a path: lower case, hyphens between words, accents left out.

    Letters of scripts that are not Latin stay as they are. Empty for a path without any letter.

    >>> permalink_of("Café Notes/camelCase v2.0.md"), permalink_of("设计/Über uns.md")
    ('cafe-notes/camel-case-v2.0', '设计/uber-uns')
    """
    stem = path
    for end in _MARKDOWN:
        stem = stem[: -len(end)] if stem.lower().endswith(end) else stem
    parts = (_slug(part) for part in stem.split("/"))
    return "/".join(part for part in parts if part)


def _slug(name: str) -> str:
    plain = _CAMEL.sub("-", unicodedata.normalize("NFC", name)).lower()
    plain = plain.translate(_SPELLED)
    plain = "".join(_without_accent(sign) for sign in plain)
    return _NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", plain)).strip("-.")


def _without_accent(sign: str) -> str:
    first = unicodedata.normalize("NFD", sign)[0]
    return first if first.isascii() else sign
