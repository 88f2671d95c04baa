"""The text of a Markdown note: its frontmatter, and what its lines state.

An edit of fields leaves every other byte as it was. A claim is a paragraph, heading or list item
like `[category] text #tag (context)`, or any that has a `#tag`. A relation is a list item `kind
[[Target]] (context)`, or a `[[Target]]` anywhere. Code, quotations, tasks, callouts and time codes
state nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml  # type: ignore[import-untyped]  # no types in the package

from observer.core.note_file import Claim, NoteFileContent, Relation

if TYPE_CHECKING:
    Field: TypeAlias = "str | list[Field] | dict[str, Field]"
    """A value of the frontmatter: every scalar is a string, as it is written."""
else:
    Field = Any  # what decodes notes knows no recursive types
Fields: TypeAlias = dict[str, Field]

BOM = "\ufeff"
HEAD_CHARS = 65_536
"""A longer frontmatter is read as text."""
MOST_NODES = 4_000
"""More values than this, aliases counted as often as they are used, are read as text."""
MOST_DEEP = 24

_HEAD = re.compile(r"\ufeff?-{3}[ \t]*\r?\n(?P<yaml>(?:.*\r?\n)*?)-{3}[ \t]*(?:\r?\n|\Z)")


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TAG = "tag:yaml.org,2002:"
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?")
_TRUE = frozenset({"yes", "true", "on"})


class Parts(NamedTuple):
    """A text in its parts; `yaml` lies between the dashes. `head` and `yaml` may be empty."""

    head: str
    yaml: str
    body: str


def parts_of(text: str) -> Parts:
    r"""Part a text: `head + body` is the text again.

    >>> parts_of("---\ntitle: A\n---\nText")
    Parts(head='---\ntitle: A\n---\n', yaml='title: A\n', body='Text')
    """
    bom = BOM if text.startswith(BOM) else ""
    if not text.startswith(f"{bom}---") or not (found := _HEAD.match(text, 0, HEAD_CHARS)):
        return Parts(bom, "", text[len(bom) :])
    return Parts(found[0], found["yaml"], text[found.end() :])


def _scalar(kind: str, text: str) -> str:
    if kind == "null":
        return ""
    if kind == "bool":
        return str(text.lower() in _TRUE)
    if kind == "timestamp":
        return text.strip().replace(" ", "T", 1)
    return text.replace("\0", "")


def fields_of(text: str, scalar: Callable[[str, str], Any] = _scalar) -> Fields | None:
    """Return the fields of a YAML mapping; None where it is malformed, none where it is empty.

    Unless `scalar` reads them otherwise, scalars become strings: ``"True"``, ISO 8601, as written.
    """
    try:
        node = yaml.compose(text.replace("\0", ""), Loader=_LOADER)
        found = {} if node is None else _value(node, scalar, iter(range(MOST_NODES)))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def json_fields_of(text: str) -> dict[str, Any] | None:
    """Return the fields as `fields_of`, but numbers, booleans and null as JSON has them.

    A number that is not written as JSON writes it stays as it is written: 007, 1:30, 0x1f.
    """

    def scalar(kind: str, text: str) -> object:
        if kind in {"int", "float"} and _JSON_NUMBER.fullmatch(text):
            return int(text) if kind == "int" else float(text)
        if kind == "bool":
            return text.lower() in _TRUE
        return None if kind == "null" else _scalar(kind, text)

    return fields_of(text, scalar)


def with_fields(text: str, fields: Mapping[str, Field | None]) -> str:
    """Return a text with fields of its frontmatter replaced, added at its end, or (None) removed.

    All else stays, byte for byte. Raises: ValueError (its frontmatter is malformed).
    """
    head, source, body = parts_of(text)
    newline = "\r\n" if "\r\n" in (head if source else body) else "\n"
    if not head.lstrip(BOM):
        block = "".join(_shown(name, value) for name, value in fields.items() if value is not None)
        made = f"{head}---\n{block}---\n\n" if block else head
        return made.replace("\n", newline) + body
    lines = source.splitlines(keepends=True)
    for name, (first, last) in reversed(_places(source).items()):
        if name in fields:
            value = fields[name]
            shown = "" if value is None else _shown(name, value).replace("\n", newline)
            lines[first:last] = shown.splitlines(keepends=True)
    known = _places(source)
    added = "".join(
        _shown(name, value).replace("\n", newline)
        for name, value in fields.items()
        if value is not None and name not in known
    )
    start = head.index(source, head.index("\n") + 1) if source else head.index("\n") + 1
    return head[:start] + "".join(lines) + added + head[start + len(source) :] + body


def _places(source: str) -> dict[str, tuple[int, int]]:
    """Return the lines of each field, in their order: the first, and the one behind the last."""
    if fields_of(source) is None:
        raise ValueError("the frontmatter is malformed")
    node = yaml.compose(source, Loader=_LOADER)
    if node is None:
        return {}
    if node.flow_style:
        raise ValueError("the frontmatter is written in braces")
    lines = source.splitlines()
    firsts = [key.start_mark.line for key, _ in node.value]
    found = {}
    for (key, _), first, end in zip(node.value, firsts, [*firsts[1:], len(lines)], strict=True):
        last = end
        # Blank lines and comments before the next field belong to that one.
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1][:1] == "#"):
            last -= 1
        found[str(key.value)] = (first, last)
    return found


def _shown(name: str, value: Field) -> str:
    """Return a field as YAML lines; strings that YAML would read as something else are quoted."""
    text: str = yaml.dump(
        {name: value}, Dumper=_DUMPER, allow_unicode=True, sort_keys=False, width=10_000
    )
    return text


def _value(
    node: Any,  # noqa: ANN401 - yaml has no types
    scalar: Callable[[str, str], Any],
    left: Iterator[int],
    depth: int = 0,
) -> Any:  # noqa: ANN401 - of several types
    """Return what a tree of nodes holds; `left` counts them: an alias may stand for thousands."""
    if next(left, None) is None or depth > MOST_DEEP:
        raise ValueError("too many values")
    if isinstance(node, yaml.ScalarNode):
        return scalar(node.tag.removeprefix(_TAG), node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, scalar, left, depth + 1) for each in node.value]
    if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
        raise ValueError("a key is no text")
    return {
        _scalar(key.tag.removeprefix(_TAG), key.value): _value(each, scalar, left, depth + 1)
        for key, each in node.value
    }


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
        if len(claims) < MOST:
            claims += _claims(block.text)
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
        if fence:
            is_over = line.said.startswith(fence) and not line.said.strip(fence[0])
            fence = "" if is_over else fence
            continue
        fence = line.fence[1] if line.fence else ""
        yield _Line("") if fence else line


_CATEGORY = re.compile(r"\[([^\[\]()]+)\]\s+(\S.*)")
_NO_CATEGORY = re.compile(r"[^\w]|[xX]|!.*|\d{1,3}(?::\d{2})+(?:[.,]\d+)?", re.DOTALL)
"""Marks of tasks and callouts, and times."""
_UNCLEAR = re.compile(r"\[(?!\[)(?![^\[\]]*\]\()|(?:\[[^\[\]]*\]\([^()]*\)|!?\[\[[^\]]*\]\])\Z")
"""A task, a footnote, or nothing but a link."""
_AFTER_TAG = ".,;:!?)]}'\"`*"


def _claims(text: str) -> Iterator[Claim]:
    category, said = "", text
    if found := _CATEGORY.match(text):
        category, said = found[1].strip(), found[2].strip()
        states = bool(category) and not _NO_CATEGORY.fullmatch(category)
    else:
        states = not _UNCLEAR.match(text) and any(word[0] == "#" for word in text.split())
    said, context = _without_context(said)
    if states and said:
        yield Claim(category=category, text=said, tags=tags_in(said), context=context)


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags of a text without `#`, in order, without duplicates.

    >>> tags_in("Uses #sqlite, since #12 and #a#b")
    ('sqlite', '12', 'a', 'b')
    """
    words = (word for word in text.split() if word[0] == "#")
    parts = (part.rstrip(_AFTER_TAG) for word in words for part in word.split("#"))
    return tuple(dict.fromkeys(filter(None, parts)))


def _without_context(text: str) -> tuple[str, str]:
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
    parts = []
    for part in stem.split("/"):
        plain = _CAMEL.sub("-", unicodedata.normalize("NFC", part)).lower().translate(_SPELLED)
        # A letter without its accents, where that leaves one of ASCII.
        firsts = ((sign, unicodedata.normalize("NFD", sign)[0]) for sign in plain)
        plain = "".join(first if first.isascii() else sign for sign, first in firsts)
        parts.append(_NOT_IN_SLUG.sub("-", unicodedata.normalize("NFC", plain)).strip("-."))
    return "/".join(filter(None, parts))
