"""Our MCP server in a configuration in YAML, as Continue keeps it: an entry of a list.

The entry is put behind the others of the list and taken out line by line, at places that the parser
reports: comments, order, layout and anchors stay. What is not a plain list in block style is
refused, and so is a change that would change anything else as well.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple, TypeAlias

import yaml  # type: ignore[import-untyped]  # no types in the package

from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.file_edits import FileEdit
from observer.clients.config_files.json_entries import (
    SERVER,
    edit_text,
    is_own_server,
    server_entry,
)
from observer.core.errors import ConfigInvalid

_LIST = "mcpServers"
_KEY = re.compile(rf"[ \t]*([\"']?){_LIST}\1[ \t]*:[ \t]*(?:\r?\n|(?=#))")
"""The line with the key of the list, up to a comment behind it."""
_OTHER_LINE_END = re.compile("[\x85\u2028\u2029]")

# Any: the parser's nodes have no types, and an entry of a foreign file holds anything.
Node: TypeAlias = Any
Entry: TypeAlias = dict[str, Any]


def edit_yaml(path: Path, change: Callable[[str], str]) -> FileEdit:
    """Plan a change of a YAML file's text; a file that is left empty goes.

    Raises:
        ConfigInvalid: the change failed; names the file.
    """
    return edit_text(
        path, change, check=lambda _: None, is_left_over=lambda after: not after.strip()
    )


def put_server(text: str, context: InstallContext) -> str:
    """Return the text with our MCP server in its list `mcpServers`.

    Raises:
        ConfigInvalid: another server has our name, or the text is not YAML that can be changed
            there and nowhere else; the hint has the entry.
    """
    try:
        return _put(text, context)
    except ValueError as error:
        entry = _layout(_wanted(None, context))
        raise ConfigInvalid(
            str(error), hint=f"nothing was changed; put this into {_LIST} by hand:\n{entry}"
        ) from error


def drop_server(text: str, context: InstallContext) -> str:
    """Return the text without our MCP server; another's with our name, or another home's, stays.

    Raises:
        ConfigInvalid: the text is not YAML from which the entry and nothing else can be removed.
    """
    try:
        return _drop(text, context)
    except ValueError as error:
        raise ConfigInvalid(
            str(error), hint=f"nothing was changed; remove {SERVER!r} from {_LIST} by hand"
        ) from error


def _put(text: str, context: InstallContext) -> str:
    before = _read(text)
    wanted = _wanted(before.entry, context)
    if wanted == before.entry:
        return text
    after = _checked(_changed(before, wanted), wanted, before)
    _drop(after, context)  # what could not be taken out again is not put in
    return after


def _drop(text: str, context: InstallContext) -> str:
    before = _read(text)
    if not is_own_server(before.entry, context):
        return text
    return _checked(_removed(before), None, before)


def _wanted(present: Entry | None, context: InstallContext) -> Entry:
    return {"name": SERVER, **server_entry(present, context)}


def _layout(entry: Entry) -> str:
    """Return an entry of a list: one line for each of its fields."""
    text: str = yaml.safe_dump(
        [entry], sort_keys=False, default_flow_style=None, allow_unicode=True, width=float("inf")
    )
    return text


# --- what a text says ----------------------------------------------------------------------------


class _Document(NamedTuple):
    """A text, the mapping in it, and in that the key, `mcpServers` and our entry; None: absent."""

    text: str
    root: Node = None
    key: Node = None
    servers: Node = None
    ours: Node = None

    @property
    def entry(self) -> Entry | None:
        """The server that has our name."""
        if self.ours is None:
            return None
        found: Entry = yaml.SafeLoader("").construct_document(self.ours)
        return found

    @property
    def others(self) -> list[Node]:
        """The other servers."""
        return [one for one in self.servers.value if one is not self.ours]

    def rest(self) -> str:
        """Return what is said beside our entry, with its tags and anchors, in one layout."""
        pairs = [
            (key, yaml.SequenceNode(value.tag, self.others) if key is self.key else value)
            for key, value in (self.root.value if self.root else ())
            if key is not self.key or self.others
        ]
        return str(yaml.serialize(yaml.MappingNode(self.root.tag, pairs))) if pairs else ""


def _read(text: str) -> _Document:
    """Return what is in a text.

    Raises:
        ValueError: it is not a single mapping in block style, or it is ambiguous.
    """
    root = _compose(text)
    if root is None or root.start_mark.index == root.end_mark.index:  # nothing, or only `---`
        return _Document(text)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise ValueError("it is not a mapping in block style")
    lists = [(key, servers) for key, servers in root.value if key.value == _LIST]
    if not lists:
        return _Document(text, root)
    key, servers = lists[0]
    ours = [
        one
        for one in (servers.value if isinstance(servers, yaml.SequenceNode) else ())
        if isinstance(one, yaml.MappingNode)
        for name, said in one.value
        if (name.value, said.value) == ("name", SERVER)
    ]
    if len(lists) > 1 or len(ours) > 1:
        raise ValueError(f"{_LIST}, or the name {SERVER!r} in it, is there twice")
    return _Document(text, root, key, servers, *ours)


def _compose(text: str) -> Node:
    if _OTHER_LINE_END.search(text):
        raise ValueError("versions of YAML differ about U+0085, U+2028 and U+2029 in it")
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError as error:
        raise ValueError("not YAML that can be changed: nested too deep") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: of escapes
        why = " ".join(str(error).split())
        raise ValueError(f"not YAML that can be changed: {why}") from error


def _checked(text: str, wanted: Entry | None, before: _Document) -> str:
    """Return a changed text if our entry is as wanted and all else says what it said.

    Raises:
        ValueError: it is not.
    """
    with contextlib.suppress(ValueError, RecursionError):
        after = _read(text)
        if after.entry == wanted and after.rest() == before.rest():
            return text
    raise ValueError(f"{_LIST} cannot be changed without changing something else")


# --- changes -------------------------------------------------------------------------------------


def _changed(document: _Document, wanted: Entry) -> str:
    """Return the text with our entry in the place of the one that is there, or behind all others.

    Raises:
        ValueError: there is no list in block style.
    """
    text, root, key, servers, ours = document
    outer = root.start_mark.column if root else 0
    heading = ""
    if ours is not None:
        start, end, column = *_lines_of_ours(document), servers.start_mark.column
        if "#" in text[start:end]:
            raise ValueError(f"the server {SERVER!r} in {_LIST} has comments of somebody else")
    elif key is None:
        if any(name.value == "<<" for name, _ in (root.value if root else ())):
            raise ValueError(f"{_LIST} may be in what `<<` merges")
        start, column, heading = len(text), outer + 2, f"{' ' * outer}{_LIST}:\n"
    elif isinstance(servers, yaml.SequenceNode) and not servers.flow_style:
        start, column = _end_of(servers, text), servers.start_mark.column
    elif servers.value == "":
        start, column = text.find("\n", key.end_mark.index) + 1 or len(text), outer + 2
    else:
        raise ValueError(f"{_LIST} is not a list in block style")
    above, below = text[:start], text[start if ours is None else end :]
    if above and not above.endswith("\n"):
        above += "\n"
    return above + heading + indent(_layout(wanted), " " * column) + below


def _removed(document: _Document) -> str:
    start, end = _lines_of_ours(document)
    text = document.text[:start] + document.text[end:]
    if document.others:
        return text
    at = text.rfind("\n", 0, document.key.start_mark.index) + 1
    if not (line := _KEY.match(text, at)):
        raise ValueError(f"{_LIST} is not a plain list in block style")
    return text[:at] + text[line.end() :]


def _lines_of_ours(document: _Document) -> tuple[int, int]:
    """Return the offsets of the lines of our entry."""
    at = document.ours.start_mark.index
    start = document.text.rfind("\n", 0, at) + 1
    if document.text[start:at].strip() != "-":
        raise ValueError(f"the server {SERVER!r} in {_LIST} is not in block style")
    return start, _end_of(document.ours, document.text)


def _end_of(node: Node, text: str) -> int:
    """Return the offset behind the last line of a list or entry.

    Blank lines and comments at the end belong to what follows, but for comments that are indented
    deeper than the list: those belong to its last entry.
    """
    start = node.start_mark.index
    column = node.start_mark.column if isinstance(node, yaml.SequenceNode) else len(text)
    lines = text[start : node.end_mark.index].split("\n")
    while not (line := lines[-1]).strip() or (
        line.lstrip().startswith("#") and len(line) - len(line.lstrip()) <= column
    ):
        lines.pop()
    end = text.find("\n", start + len("\n".join(lines)))
    return len(text) if end < 0 else end + 1
