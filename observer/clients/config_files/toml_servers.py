"""Tables of a configuration in TOML, and our MCP server in it: a table `mcp_servers.observer`.

The table is put behind everything else, and taken out line by line: comments, order and layout
stay. A change that would change anything else as well is refused.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from pprint import pformat
from typing import Any

from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.file_edits import FileEdit
from observer.clients.config_files.json_entries import (
    SERVER,
    Change,
    edit_text,
    is_own_server,
    server_entry,
)

_SERVERS = "mcp_servers"
_LF = "\n"
_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)


def edit_toml(path: Path, change: Change) -> FileEdit:
    """Plan a change of a TOML file's text; a file that is left empty goes.

    Raises:
        ConfigInvalid: the file is not TOML, or the change failed; names the file.
    """
    return edit_text(path, change, check=load, is_left_over=lambda after: not after.strip())


def put_server(text: str, context: InstallContext) -> str:
    """Return the text with our MCP server registered.

    Raises:
        ConfigInvalid: another server has our name.
        ValueError: the table cannot be added or changed without changing something else.
    """
    before = load(text)
    present = _server(before)
    wanted = server_entry(present, context)
    if wanted == present:
        return text
    import tomlkit  # noqa: PLC0415 - 10 ms, of an installation only

    if present is None:
        after = f"{text and text + _LF}{tomlkit.dumps({_SERVERS: {SERVER: wanted}})}"
    else:
        document: Any = tomlkit.parse(text)
        table = document[_SERVERS][SERVER]
        for key in present.keys() - wanted.keys():
            del table[key]
        for key in (key for key in wanted if wanted[key] != present.get(key)):
            table[key] = wanted[key]
        after = tomlkit.dumps(document)
    return _checked(after, before | {_SERVERS: _servers(before) | {SERVER: wanted}})


def drop_server(text: str, context: InstallContext) -> str:
    """Return the text without our MCP server; another's with our name, or another home's, stays.

    Raises:
        ValueError: the table cannot be removed without changing something else.
    """
    before = load(text)
    if not is_own_server(_server(before), context):
        return text
    text = without(text, lambda header: _server(header) is not None)
    others = {name: one for name, one in _servers(before).items() if name != SERVER}
    return _checked(text, before | {_SERVERS: others})


def _server(document: dict[str, Any]) -> Any:  # noqa: ANN401 - of a foreign file
    return _servers(document).get(SERVER)


def _servers(document: dict[str, Any]) -> dict[str, Any]:
    tables = document.get(_SERVERS)
    return tables if isinstance(tables, dict) else {}


def _checked(text: str, expected: dict[str, Any]) -> str:
    """Return the text if it says what is expected."""
    with contextlib.suppress(ValueError):
        if _comparable(load(text)) == _comparable(expected):
            return text
    raise ValueError(f"the table {_SERVERS}.{SERVER} cannot be changed without changing others")


def _comparable(document: dict[str, Any]) -> str:
    document = {_SERVERS: {}} | document  # without servers there need not be a table for them
    return pformat(document)  # `nan` equals itself as text


def load(text: str) -> dict[str, Any]:
    """Return the tables of a text.

    Raises:
        ValueError: it is not TOML, or nested beyond the interpreter's limit.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("not valid TOML: nested too deep") from error


def without(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> str:
    """Return a text without tables, of which `is_wanted` sees what their header alone makes.

    A blank line goes with each; comments behind it belong to what follows.
    """
    for start, end in reversed(list(_tables(text, is_wanted))):
        above, below = text[:start], text[end:]
        if above.endswith(_LF) and (not below or below.startswith(_LF) or above.endswith("\n\n")):
            above = above[:-1]  # the line feed that was put before it
        text = above + below
    return text


def _tables(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of tables."""
    headers = [found for found in _HEADER.finditer(text) if _header(found[0])]
    ends = [*(found.start() for found in headers[1:]), len(text)]
    for found, end in zip(headers, ends, strict=True):
        if is_wanted(_header(found[0])):
            lines = text[found.start() : end].split(_LF)
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            yield found.start(), min(found.start() + len(_LF.join(lines)) + 1, end)


def _header(line: str) -> dict[str, Any]:
    """Return what a line with the name of a table makes; nothing for any other line."""
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return {}
