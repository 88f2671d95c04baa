"""Our entries among others' in a JSON configuration: put in, brought up to date, taken out.

An entry is ours if its command runs a script in `<home>/hooks`. Everybody else's entries, their
order, comments and layout stay.

What to paste where, for people who register the MCP server by hand.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from observer.clients.config_files import jsonc
from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid
from observer.core.paths import ENV_HOME

IsOurs = Callable[[Any], bool]  # Any: an entry of a foreign file
Change = Callable[[str], str]

_HINT = "correct it, then repeat; nothing was changed"

SERVER = "observer"
"""Our name among a client's MCP servers."""


def edit_json(path: Path, change: Change, *, leftovers: Sequence[object] = ({},)) -> FileEdit:
    """Plan a change of a JSON file's text; a file that is left with a leftover goes.

    Raises:
        ConfigInvalid: the file is not a JSON object, or not of the shape that the change needs;
            names the file.
    """

    def is_left_over(after: str) -> bool:
        return jsonc.load(after) in leftovers and not jsonc.has_comment(after)

    return edit_text(path, change, check=_check, is_left_over=is_left_over)


def edit_text(
    path: Path,
    change: Change,
    *,
    check: Callable[[str], object],
    is_left_over: Callable[[str], bool],
) -> FileEdit:
    """Plan a change of a file's text; a file that is left with nothing of others goes.

    Args:
        path: the file; one that is not there has an empty text.
        change: gets the text with plain line feeds.
        check: raises ValueError for a text that is not what the file should hold.
        is_left_over: returns True for a text that nobody needs.

    Raises:
        ConfigInvalid: the check or the change failed; names the file.
    """
    before = read(path)
    try:
        found = (before or b"").decode()
        check(found)
        # A file whose lines all end as on Windows keeps to it.
        has_crlf = 0 < found.count("\n") == found.count("\r\n")
        text = found.replace("\r\n", "\n") if has_crlf else found
        after = change(text)
    except ConfigInvalid as error:
        raise ConfigInvalid(f"{path}: {error.message}", hint=error.hint) from error
    except ValueError as error:
        raise ConfigInvalid(f"{path}: {error}", hint=_HINT) from error
    if after == text:
        return FileEdit(path=path, before=before, after=before)
    is_gone = before is not None and is_left_over(after)
    written = after.replace("\n", "\r\n") if has_crlf else after
    return FileEdit(path=path, before=before, after=None if is_gone else written.encode())


def merge(text: str, path: jsonc.Path, wanted: Sequence[object], is_ours: IsOurs) -> str:
    """Return the text whose list at a path holds exactly the wanted ones of ours.

    Each takes the place of one that is there, the others follow at the end: what else is in the
    list keeps its place.

    Raises:
        ValueError: there is something else than a list.
    """
    present = _list(text, path)
    places = [place for place, entry in enumerate(present) if is_ours(entry)]
    for place, entry in zip(places, wanted, strict=False):
        if present[place] != entry:
            text = jsonc.put(text, (*path, place), entry)
    for place in reversed(places[len(wanted) :]):
        text = jsonc.remove(text, (*path, place))
    for entry in wanted[len(places) :]:
        text = jsonc.put(text, (*path, len(_list(text, path))), entry)
    return text


class Servers(NamedTuple):
    """How a client's configuration holds its MCP servers, ours among them.

    Attributes:
        place: the path of the object that holds them by name.
        extra: fields of a new entry.
        flat: returns an entry as `command`, `args` and `env`, with whatever else it holds.
        shaped: the inverse of `flat`.
    """

    place: jsonc.Path = ("mcpServers",)
    extra: Mapping[str, object] = {}
    flat: Callable[[Any], Any] = lambda entry: entry
    shaped: Callable[[dict[str, Any]], dict[str, Any]] = lambda entry: entry

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with our MCP server registered.

        Raises:
            ConfigInvalid: another server has our name.
        """
        path = (*self.place, SERVER)
        entry = jsonc.at(text, path)
        present = None if entry is None else self.flat(entry) or {}
        wanted = server_entry(present, context, extra=self.extra)
        return text if wanted == present else jsonc.put(text, path, self.shaped(wanted))

    def drop(self, text: str, context: InstallContext) -> str:
        """Return the text without our MCP server; another's with our name or home stays."""
        path = (*self.place, SERVER)
        is_own = is_own_server(self.flat(jsonc.at(text, path)), context)
        return jsonc.remove(text, path) if is_own else text


def server_entry(
    present: Any,  # noqa: ANN401 - an entry of a foreign file
    context: InstallContext,
    *,
    extra: Mapping[str, object] = {},
) -> dict[str, Any]:
    """Return the entry of our MCP server: the one that is there, brought up to date.

    Raises:
        ConfigInvalid: another server has our name.
    """
    if present is not None and not _is_our_server(present):
        raise ConfigInvalid(
            f"another MCP server has the name {SERVER!r}",
            hint="rename or remove that entry, then repeat",
        )
    chosen = ["--tools", context.tools] if context.tools else []
    usual = {**extra, "command": context.observer, "args": ["mcp", *chosen]}
    wanted = {**usual, **(present or {}), "command": context.observer}
    if chosen:
        wanted["args"] = usual["args"]
    environ = {name: at for name, at in wanted.pop("env", {}).items() if name != ENV_HOME}
    if str(context.home.root) != _usual_home(context):
        environ[ENV_HOME] = str(context.home.root)
    if environ:
        wanted["env"] = environ
    return wanted


def is_own_server(present: Any, context: InstallContext) -> bool:  # noqa: ANN401 - as above
    """Return True if an entry is the MCP server of this home."""
    if not _is_our_server(present):
        return False
    home = present.get("env", {}).get(ENV_HOME) or _usual_home(context)
    return bool(home == str(context.home.root))


def _usual_home(context: InstallContext) -> str:
    return str(context.user_home / ".observer")


def _is_our_server(entry: object) -> bool:
    match entry:
        case {"command": str(command), "args": ["mcp", *_], **rest}:
            return Path(command).name == "observer" and isinstance(rest.get("env", {}), dict)
    return False


def _check(text: str) -> None:
    if not isinstance(jsonc.load(text), dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - the file is wrong, not its reader


def _list(text: str, path: jsonc.Path) -> list[Any]:
    value = jsonc.at(text, path)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{'.'.join(map(str, path))} is not a list")  # noqa: TRY004 - the file is wrong, not its reader
    return value


class Snippet(NamedTuple):
    """One client's way: what to do, and the text to do it with."""

    client: str
    instruction: str
    text: str


def snippets(context: InstallContext) -> list[Snippet]:
    """Return the MCP entry of each client, with this installation's own command."""
    document = jsonc.load(Servers().put("{}", context))
    entry = document["mcpServers"][SERVER]
    argv = [entry["command"], *entry["args"]]
    variables = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    claude = ["claude", "mcp", "add", "--scope=user", *(f"--env={one}" for one in variables)]
    before = ["env", *variables] if variables else []
    pasted = orjson.dumps(document).decode()
    return [
        Snippet("claude-code", "run", shlex.join([*claude, SERVER, "--", *argv])),
        Snippet("cursor", "merge into ~/.cursor/mcp.json", pasted),
        Snippet("kiro", "merge into ~/.kiro/settings/mcp.json", pasted),
        Snippet("any other", "start over stdio", shlex.join([*before, *argv])),
    ]
