"""The frontmatter of a Markdown file: YAML between two lines of dashes at its very beginning.

A text is parted into its head (the frontmatter with its dashes) and its body so that both together
are the text, byte for byte; an edit of fields leaves every other byte as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml  # type: ignore[import-untyped]  # no types in the package

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


def fields_of(text: str) -> Fields | None:
    """Return the fields of a YAML mapping; None where it is malformed, none where it is empty.

    Scalars become strings: True is ``"True"``, a date ISO 8601, null empty, and all else stays as
    it is written. Values of other kinds than scalars, lists and mappings are malformed.
    """
    found: Fields | None = _fields(text, _Reading(_scalar))
    return found


def _fields(text: str, reading: _Reading) -> dict[str, Any] | None:
    try:
        node = yaml.compose(text.replace("\0", ""), Loader=_LOADER)
        if node is None:
            return {}
        found = reading.value(node, 0)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def json_fields_of(text: str) -> dict[str, Any] | None:
    """Return the fields as `fields_of`, but numbers, booleans and null as JSON has them.

    A number that is not written as JSON writes it stays as it is written: 007, 1:30, 0x1f.
    """
    return _fields(text, _Reading(_json_scalar))


def with_fields(text: str, fields: Mapping[str, Field | None]) -> str:
    """Return a text with fields of its frontmatter replaced, added at its end, or (None) removed.

    Everything else stays as it is, byte for byte. A text without frontmatter gets one.

    Raises:
        ValueError: its frontmatter is malformed.
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


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TAG = "tag:yaml.org,2002:"
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?")
_TRUE = frozenset({"yes", "true", "on"})


class _Reading:
    """Reads one tree of YAML nodes, counting them: an alias may stand for thousands."""

    def __init__(self, scalar: Callable[[str, str], Any]) -> None:
        self._nodes = 0
        self._scalar = scalar

    def value(self, node: Any, depth: int) -> Any:  # noqa: ANN401 - yaml has no types
        self._nodes += 1
        if self._nodes > MOST_NODES or depth > MOST_DEEP:
            raise ValueError("too many values")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node.tag.removeprefix(_TAG), node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, depth + 1) for each in node.value]
        return {self._key(key): self.value(each, depth + 1) for key, each in node.value}

    def _key(self, node: Any) -> str:  # noqa: ANN401 - yaml has no types
        self._nodes += 1
        if not isinstance(node, yaml.ScalarNode):
            raise ValueError("a key is no text")  # noqa: TRY004 - malformed input, not a wrong type
        return _scalar(node.tag.removeprefix(_TAG), node.value)


def _json_scalar(kind: str, text: str) -> object:
    if kind in {"int", "float"} and _JSON_NUMBER.fullmatch(text):
        return int(text) if kind == "int" else float(text)
    if kind == "bool":
        return text.lower() in _TRUE
    return None if kind == "null" else _scalar(kind, text)


def _scalar(kind: str, text: str) -> str:
    if kind == "null":
        return ""
    if kind == "bool":
        return str(text.lower() in _TRUE)
    if kind == "timestamp":
        return text.strip().replace(" ", "T", 1)
    if "\0" in text:
        return text.replace("\0", "")
    return text
