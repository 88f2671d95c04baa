"""What an installer puts into a client's files: our hooks, our MCP server, a plug-in of ours.

Everybody else's entries, their order, comments and layout stay. An entry is ours if its command
runs a script in `<home>/hooks`. What a context wants is put in, else taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from observer.clients.client import Installer
from observer.clients.config_files import jsonc
from observer.clients.config_files.context import (
    FileEdit,
    InstallContext,
    InstallPlan,
    command,
    is_ours,
    read_file,
)
from observer.core.errors import ConfigInvalid
from observer.core.json_text import dump
from observer.core.paths import ENV_HOME

Options: TypeAlias = Mapping[str, object]
PathOf: TypeAlias = Callable[[InstallContext], Path]
BytesOf: TypeAlias = Callable[[InstallContext], bytes]
IsOurs: TypeAlias = Callable[[Any], bool]
OurFile: TypeAlias = Callable[[InstallContext], FileEdit]
"""Plans a file of a client with something of ours in it."""
Part: TypeAlias = Callable[[str, InstallContext], str]
"""Returns a JSON file's text with what is ours, or without; raises ValueError for another shape."""


def placed(variable: str, default: str, file: str) -> PathOf:
    """Return where a file is: in the folder that a variable names, else in one of the home."""
    return lambda context: context.place(variable, default) / file


def config_file(path: PathOf, *parts: Part, leftovers: Sequence[object] = ({},)) -> OurFile:
    """Return what plans parts of ours in a JSON file, or raises ConfigInvalid; a leftover goes."""

    def check(text: str) -> None:
        if not isinstance(jsonc.load(text), dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - the file is wrong, not its reader

    def is_left_over(after: str) -> bool:
        return jsonc.load(after) in leftovers and not jsonc.has_comment(after)

    def edit(context: InstallContext) -> FileEdit:
        def change(text: str) -> str:
            for part in parts:
                text = part(text, context)
            return text

        return edit_text(path(context), change, check=check, is_left_over=is_left_over)

    return edit


def installer_of(
    *files: OurFile, notes: Sequence[str] = (), farewell: Sequence[str] = ()
) -> Installer:
    """Return the installer of files; `notes` say what to do then, `farewell` once they go."""

    def plan(context: InstallContext) -> InstallPlan:
        edits = tuple(edit(context) for edit in files)
        left = farewell if any(one.is_change for one in edits) else ()
        return InstallPlan(edits=edits, notes=tuple(notes if context.is_wanted else left))

    return plan


# --- changes of a text, and our MCP server in it -------------------------------------------------

SERVER = "observer"


def edit_text(
    path: Path,
    change: Callable[[str], str],
    *,
    check: Callable[[str], object],
    is_left_over: Callable[[str], bool],
) -> FileEdit:
    """Plan a change of a file's text, "" without one, with plain line feeds; a leftover goes.

    Raises ConfigInvalid, which names the file, where `check` or the change raises ValueError.
    """
    before = read_file(path)
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
        hint = "correct it, then repeat; nothing was changed"
        raise ConfigInvalid(f"{path}: {error}", hint=hint) from error
    if after == text:
        return FileEdit(path=path, before=before, after=before)
    is_gone = before is not None and is_left_over(after)
    written = after.replace("\n", "\r\n") if has_crlf else after
    return FileEdit(path=path, before=before, after=None if is_gone else written.encode())


def merge(text: str, path: jsonc.Path, wanted: Sequence[object], is_ours: IsOurs) -> str:
    """Return the text whose list at a path holds exactly the wanted ones of ours.

    Each takes the place of one that is there, the others follow at the end. Raises ValueError if
    there is something else than a list.
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
    """How a client's configuration holds its MCP servers, ours among them, by name.

    A new entry has `extra`; `flat` gives one `command`, `args` and `env`, `shaped` is its inverse.
    """

    place: jsonc.Path = ("mcpServers",)
    extra: Mapping[str, object] = {}
    flat: Callable[[Any], Any] = lambda entry: entry
    shaped: Callable[[dict[str, Any]], dict[str, Any]] = lambda entry: entry

    def edited(self, text: str, context: InstallContext) -> str:
        """Return the text with our MCP server or not; raise ConfigInvalid for another's name."""
        path = (*self.place, SERVER)
        entry = jsonc.at(text, path)
        if not context.is_wanted:
            return jsonc.remove(text, path) if is_own_server(self.flat(entry), context) else text
        present = None if entry is None else self.flat(entry) or {}
        wanted = server_entry(present, context, extra=self.extra)
        return text if wanted == present else jsonc.put(text, path, self.shaped(wanted))


def server_entry(
    present: Any,  # noqa: ANN401 - an entry of a foreign file
    context: InstallContext,
    *,
    extra: Mapping[str, object] = {},
) -> dict[str, Any]:
    """Return the entry of our MCP server, brought up to date; raise ConfigInvalid for another's."""
    if present is not None and not _is_our_server(present):
        hint = "rename or remove that entry, then repeat"
        raise ConfigInvalid(f"another MCP server has the name {SERVER!r}", hint=hint)
    chosen = ["--tools", context.tools] if context.tools else []
    usual = {**extra, "command": context.observer, "args": ["mcp", *chosen]}
    wanted = {**usual, **(present or {}), "command": context.observer}
    if chosen:
        wanted["args"] = usual["args"]
    environ = {name: at for name, at in wanted.pop("env", {}).items() if name != ENV_HOME}
    if context.home.root != context.user_home / ".observer":
        environ[ENV_HOME] = str(context.home.root)
    if environ:
        wanted["env"] = environ
    return wanted


def is_own_server(present: Any, context: InstallContext) -> bool:  # noqa: ANN401 - as above
    """Return True if an entry is the MCP server of this home."""
    if not _is_our_server(present):
        return False
    home = present.get("env", {}).get(ENV_HOME) or str(context.user_home / ".observer")
    return bool(home == str(context.home.root))


def _is_our_server(entry: object) -> bool:
    match entry:
        case {"command": str(command), "args": ["mcp", *_], **rest}:
            return Path(command).name == "observer" and isinstance(rest.get("env", {}), dict)
    return False


def _list(text: str, path: jsonc.Path) -> list[Any]:
    value = jsonc.at(text, path)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{'.'.join(map(str, path))} is not a list")  # noqa: TRY004 - the file is wrong, not its reader
    return value


# --- hooks ---------------------------------------------------------------------------------------


def seconds(events: str, timeout: int) -> dict[str, Options]:
    """Return the same timeout for some events, whose names are words."""
    return {event: {"timeout": timeout} for event in events.split()}


def runs_ours(context: InstallContext, entry: object) -> bool:
    """Return True if an entry of a settings file, of any shape, runs one of our scripts."""
    return isinstance(entry, dict) and is_ours(
        context.home, entry.get("command", entry.get("bash"))
    )


class Hooks(NamedTuple):
    """Our hooks in a client's lists of them by event: in groups as in Claude Code, or flat.

    A group has an optional matcher and a list of handlers. One whose handlers are all ours is
    ours. It is changed where it stands: Codex CLI trusts a handler by its place, and a group that
    moves would move those of others.

    `reporting` has options of handlers, `recalling` matchers of those that ask for a reminder, with
    the options `asking`; `matchers` of reported events stand for all tools. `key` is the field with
    the command line, `start` the event that prints the context, `version` that of the file's form.
    """

    client: str
    reporting: Mapping[str, Options]
    recalling: Mapping[str, str] = {}
    asking: Options = MappingProxyType({"timeout": 5})
    matchers: Mapping[str, str] = {}
    key: str = "command"
    start: str = "SessionStart"
    version: object = None
    is_grouped: bool = True

    def edited(self, text: str, context: InstallContext) -> str:
        """Return the text with our hooks, and none of an older version, or without."""
        if context.is_wanted and self.version and jsonc.at(text, ("version",)) is None:
            text = jsonc.put(text, ("version",), self.version)
        text = _without_strays(text, context)
        for event in dict.fromkeys((*self.reporting, *self.recalling, *_events_in(text))):
            wanted = self._entries(event, context) if context.is_wanted else []
            text = merge(text, ("hooks", event), wanted, partial(_is_ours, context))
        return text

    def _entries(self, event: str, context: InstallContext) -> list[object]:
        entries: list[object] = []
        if event in self.reporting:
            lines = [command(context.home, "post", self.client, event)]
            if event == self.start:
                lines.append(command(context.home, "context", self.client))
            handlers = [{self.key: line, **self.reporting[event]} for line in lines]
            entries += self._matching(self.matchers.get(event), handlers)
        if event in self.recalling:
            line = command(context.home, "recall", self.client, event)
            entries += self._matching(self.recalling[event], [{self.key: line, **self.asking}])
        return entries

    def _matching(self, matcher: str | None, handlers: Sequence[Options]) -> list[Options]:
        about = {} if matcher is None else {"matcher": matcher}
        if self.is_grouped:
            return [{**about, "hooks": [{"type": "command", **one} for one in handlers]}]
        return [{**one, **about} for one in handlers]


def our_handlers(text: str, context: InstallContext) -> Iterator[tuple[str, int, int]]:
    """Yield event, place of the group and place in the group of each handler of ours."""
    for event in _events_in(text):
        for place, group in enumerate(_list(text, ("hooks", event))):
            known = enumerate(_handlers(group))
            yield from ((event, place, at) for at, one in known if runs_ours(context, one))


def check_switch(path: PathOf, key: jsonc.Path, context: InstallContext, *, off: bool) -> None:
    """Raise ConfigInvalid if a JSON file has the setting by which a client runs no hooks."""
    file = path(context)
    if jsonc.at((read_file(file) or b"").decode(errors="replace"), key) is off:
        name = ".".join(map(str, key))
        hint = f"remove {name} from that file"
        raise ConfigInvalid(f"hooks are switched off by {name} in {file}", hint=hint)


def _without_strays(text: str, context: InstallContext) -> str:
    """Take our handlers out of the groups where somebody else's stand as well."""
    for event, place, at in reversed([*our_handlers(text, context)]):
        if not _is_ours(context, jsonc.at(text, ("hooks", event, place))):
            text = jsonc.remove(text, ("hooks", event, place, "hooks", at))
    return text


def _events_in(text: str) -> list[str]:
    hooks = jsonc.at(text, ("hooks",))
    return list(hooks) if isinstance(hooks, dict) else []


def _is_ours(context: InstallContext, entry: object) -> bool:
    return all(runs_ours(context, one) for one in _handlers(entry) or [entry])


def _handlers(group: object) -> list[object]:
    known = group.get("hooks") if isinstance(group, dict) else None
    return known if isinstance(known, list) else []


# --- files that are ours as a whole --------------------------------------------------------------

_MARK = "Written by `observer install"
_PRELUDE = Path(__file__).with_name("plugin_prelude.js")


def own_file(path: PathOf, content: BytesOf, home: BytesOf) -> OurFile:
    """Return what plans a file with our mark, and what `home` returns, in its content.

    One of another home stays. One of somebody else does too, and raises ConfigInvalid if wanted.
    """

    def edit(context: InstallContext) -> FileEdit:
        file = path(context)
        before = read_file(file)
        is_known = before is not None and _MARK.encode() in before
        if not context.is_wanted:
            is_gone = is_known and home(context) in (before or b"")
            return FileEdit(path=file, before=before, after=None if is_gone else before)
        if before is not None and not is_known:
            hint = "rename or remove it, then repeat; nothing was changed"
            raise ConfigInvalid(f"{file} is not a file of observer", hint=hint)
        return FileEdit(path=file, before=before, after=content(context))

    return edit


def plug_in(client: str, source: Path, path: PathOf) -> OurFile:
    """Return what plans a client's plug-in: what all of ours share, then `source`."""

    def home(context: InstallContext) -> bytes:
        return dump(str(context.home.hooks))

    def code(context: InstallContext) -> bytes:
        head = f"// {_MARK} {client}`; `observer uninstall {client}` removes it.\n"
        constants = f'const CLIENT = "{client}"\nconst HOOKS = {home(context).decode()}\n'
        texts = (path.read_text(encoding="utf-8") for path in (_PRELUDE, source))
        lines = "".join(texts).splitlines(keepends=True)
        # Imports come first in a module.
        imports = [line for line in lines if line.startswith("import ")]
        rest = [line for line in lines if not line.startswith("import ")]
        return (head + "".join(imports) + "\n" + constants + "".join(rest)).encode()

    return own_file(path, code, home)
