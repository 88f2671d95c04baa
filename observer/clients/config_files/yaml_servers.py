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
_COLON = re.compile(r"[ \t]*:")
_LINE_END = re.compile(r"[ \t]*(?:[ \t]#[^\n]*|\r)?(?:\n|\Z)")
_TO_LIST = re.compile(rf"{_LINE_END.pattern}(?:[ \t]*(?:#[^\n]*|\r)?\n)*[ ]*")
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
    change = _inserted if before.entry is None else _updated
    after = _checked(change(before, wanted), wanted, before)
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
    """A text, the mapping in it, and `mcpServers` in that, as nodes of the parser; None: absent."""

    text: str
    root: Node = None
    key: Node = None
    servers: Node = None
    ours: Node = None

    @property
    def entry(self) -> Entry | None:
        """The server that has our name."""
        return None if self.ours is None else _entry(self.ours)

    @property
    def others(self) -> list[Node]:
        """The other servers."""
        return [one for one in _items(self.servers) if one is not self.ours]


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
    keys = _keys(root)
    if _LIST not in keys:
        return _Document(text, root)
    key, servers = root.value[keys.index(_LIST)]
    named = [one for one in _items(servers) if _entry(one).get("name") == SERVER]
    if len(named) > 1:
        raise ValueError(f"two servers of {_LIST} have the name {SERVER!r}")
    if named:
        _keys(named[0])
    return _Document(text, root, key, servers, *named)


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


def _keys(mapping: Node) -> list[str | None]:
    keys = [_scalar(key) for key, _ in mapping.value]
    if None in keys or len(set(keys)) != len(keys):
        raise ValueError("a key is there twice, or is not a text")
    return keys


def _items(node: Node) -> list[Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _scalar(node: Node) -> str | None:
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _entry(node: Node) -> Entry:
    """Return an entry's texts, and its lists and mappings of texts; None for what is deeper."""

    def value(node: Node) -> Any:  # noqa: ANN401 - of a foreign file
        if isinstance(node, yaml.MappingNode):
            return {str(_scalar(key)): _scalar(one) for key, one in node.value}
        if isinstance(node, yaml.SequenceNode):
            return [_scalar(one) for one in node.value]
        return _scalar(node)

    if not isinstance(node, yaml.MappingNode):
        return {}
    return {str(_scalar(key)): value(one) for key, one in node.value}


def _checked(text: str, wanted: Entry | None, before: _Document) -> str:
    """Return a changed text if our entry is as wanted and all else says what it said.

    Raises:
        ValueError: it is not.
    """
    with contextlib.suppress(ValueError, RecursionError):
        after = _read(text)
        if after.entry == wanted and _rest(after) == _rest(before):
            return text
    raise ValueError(f"{_LIST} cannot be changed without changing something else")


def _rest(document: _Document) -> object:
    """Return what is said beside our entry: tags and values, and which of them are one node."""
    seen: dict[int, int] = {}

    def tree(node: Node) -> object:
        if id(node) in seen:
            return seen[id(node)]
        seen[id(node)] = len(seen)
        if node is document.servers:
            return [tree(one) for one in document.others]
        if isinstance(node, yaml.MappingNode):
            return node.tag, [(tree(key), tree(one)) for key, one in pairs(node)]
        if isinstance(node, yaml.SequenceNode):
            return node.tag, [tree(one) for one in node.value]
        return node.tag, node.value

    def pairs(node: Node) -> list[tuple[Node, Node]]:
        is_list_alone = node is document.root and not document.others
        return [pair for pair in node.value if not (is_list_alone and pair[0] is document.key)]

    return tree(document.root) if document.root and pairs(document.root) else None


# --- changes -------------------------------------------------------------------------------------


def _inserted(document: _Document, wanted: Entry) -> str:
    text, root, key, servers, _ = document
    outer = root.start_mark.column if root else 0
    if root and not key and "<<" in _keys(root):
        raise ValueError(f"{_LIST} may be in what `<<` merges")
    if key is None:
        at, column, heading = len(text), outer + 2, f"{' ' * outer}{_LIST}:\n"
    elif isinstance(servers, yaml.SequenceNode):
        _first_dash(document)
        at, column, heading = _end_of(servers, document), servers.start_mark.column, ""
    else:
        line = _LINE_END.match(text, _colon(document))
        if not line or servers.value:
            raise ValueError(f"{_LIST} is not a list in block style")
        at, column, heading = line.end(), outer + 2, ""
    above = text[:at]
    if above and not above.endswith("\n"):
        above += "\n"
    return above + heading + indent(_layout(wanted), " " * column) + text[at:]


def _updated(document: _Document, wanted: Entry) -> str:
    """Return the text with another command in our entry, or with all of it if we wrote all."""
    text, ours, present = document.text, document.ours, document.entry or {}
    if wanted == {**present, "command": wanted["command"]}:
        command = next(one for key, one in ours.value if key.value == "command")
        start, end = command.start_mark.index, command.end_mark.index
        line = _layout({"command": wanted["command"], "args": []}).split("\n")[0]
        return text[:start] + line.removeprefix("- command: ") + text[end:]
    start, end = _lines_of_ours(document)
    margin = " " * document.servers.start_mark.column
    if text[start:end] != indent(_layout(present), margin):
        raise ValueError(f"the server {SERVER!r} in {_LIST} is laid out by somebody else")
    return text[:start] + indent(_layout(wanted), margin) + text[end:]


def _removed(document: _Document) -> str:
    text, key = document.text, document.key
    start, end = _lines_of_ours(document)
    text = text[:start] + text[end:]
    if document.others:
        return text
    _first_dash(document)
    at, colon = key.start_mark.index, _colon(document)
    line = _LINE_END.match(text, colon)
    if line and "#" not in line[0]:
        return text[: text.rfind("\n", 0, at) + 1] + text[line.end() :]
    return text[:at] + text[colon:].lstrip(" \t")  # the comment behind the key stays


def _colon(document: _Document) -> int:
    """Return the offset behind the colon of `mcpServers`."""
    found = _COLON.match(document.text, document.key.end_mark.index)
    if not found:
        raise ValueError(f"{_LIST} is not a plain key")
    return found.end()


def _first_dash(document: _Document) -> int:
    """Return the offset of the list's first dash, which has its own line.

    Raises:
        ValueError: it is not in block style, or an alias, or has an anchor or tag.
    """
    at: int = document.servers.start_mark.index
    if not _TO_LIST.fullmatch(document.text, _colon(document), at) or document.text[at] != "-":
        raise ValueError(f"{_LIST} is not a plain list in block style")
    return at


def _lines_of_ours(document: _Document) -> tuple[int, int]:
    """Return the offsets of the lines of our entry."""
    at = document.ours.start_mark.index
    start = document.text.rfind("\n", 0, at) + 1
    if at < _first_dash(document) or document.text[start:at].strip() != "-":
        raise ValueError(f"the server {SERVER!r} in {_LIST} is not in block style")
    return start, _end_of(document.ours, document)


def _end_of(node: Node, document: _Document) -> int:
    """Return the offset behind the last line of a list or entry.

    Blank lines and comments at the end belong to what follows, but for comments that are indented
    deeper than the list: those belong to its last entry.
    """
    start = node.start_mark.index
    servers = document.servers
    column = servers.start_mark.column if node is servers else len(document.text)
    lines = document.text[start : node.end_mark.index].split("\n")
    while not (line := lines[-1]).strip() or (
        line.lstrip().startswith("#") and len(line) - len(line.lstrip()) <= column
    ):
        lines.pop()
    end = document.text.find("\n", start + len("\n".join(lines)))
    return len(document.text) if end < 0 else end + 1
