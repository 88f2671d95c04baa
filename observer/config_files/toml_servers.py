"""Our MCP server in a configuration in TOML, as Codex CLI keeps it: a table `mcp_servers.observer`.

The table is put behind everything else, and taken out line by line: comments, order and layout
stay. A change that would change anything else as well is refused.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from pprint import pformat
from typing import Any

import tomlkit

from observer.config_files import toml_tables
from observer.config_files.context import InstallContext
from observer.config_files.file_edits import FileEdit
from observer.config_files.json_entries import (
    SERVER,
    Change,
    edit_text,
    is_own_server,
    server_entry,
)
from observer.config_files.toml_tables import load

_TABLES = "mcp_servers"
_LF = "\n"


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
    if present is None:
        after = f"{text and text + _LF}{tomlkit.dumps({_TABLES: {SERVER: wanted}})}"
    else:
        document: Any = tomlkit.parse(text)
        table = document[_TABLES][SERVER]
        for key in present.keys() - wanted.keys():
            del table[key]
        for key in (key for key in wanted if wanted[key] != present.get(key)):
            table[key] = wanted[key]
        after = tomlkit.dumps(document)
    return _checked(after, before | {_TABLES: _servers(before) | {SERVER: wanted}})


def drop_server(text: str, context: InstallContext) -> str:
    """Return the text without our MCP server; another's with our name, or another home's, stays.

    Raises:
        ValueError: the table cannot be removed without changing something else.
    """
    before = load(text)
    if not is_own_server(_server(before), context):
        return text
    text = toml_tables.without(text, lambda header: _server(header) is not None)
    others = {name: one for name, one in _servers(before).items() if name != SERVER}
    return _checked(text, before | {_TABLES: others})


def _server(document: dict[str, Any]) -> Any:  # noqa: ANN401 - of a foreign file
    return _servers(document).get(SERVER)


def _servers(document: dict[str, Any]) -> dict[str, Any]:
    tables = document.get(_TABLES)
    return tables if isinstance(tables, dict) else {}


def _checked(text: str, expected: dict[str, Any]) -> str:
    """Return the text if it says what is expected."""
    with contextlib.suppress(ValueError):
        if _comparable(load(text)) == _comparable(expected):
            return text
    raise ValueError(f"the table {_TABLES}.{SERVER} cannot be changed without changing others")


def _comparable(document: dict[str, Any]) -> str:
    document = {_TABLES: {}} | document  # without servers there need not be a table for them
    return pformat(document)  # `nan` equals itself as text
