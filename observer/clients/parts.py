"""What an installer puts into a client's files: our hooks, our MCP server, a plug-in of ours.

Everybody else's entries, their order, comments and layout stay. An entry is ours if its command
runs a script in `<home>/hooks`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import orjson

from observer.clients.client import Installer
from observer.clients.config_files import jsonc
from observer.clients.config_files.context import InstallContext, InstallPlan, command, is_ours
from observer.clients.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid
from observer.core.json_text import dump
from observer.core.paths import ENV_HOME

Options: TypeAlias = Mapping[str, object]
PathOf: TypeAlias = Callable[[InstallContext], Path]


def placed(variable: str, default: str, file: str) -> PathOf:
    """Return where a file is: in the folder that a variable names, else in one of the home."""
    return lambda context: context.place(variable, default) / file


class Part(Protocol):
    """What is ours in the text of a JSON file; both methods raise ValueError for another shape."""

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with what is ours, and nothing of an older version."""

    def drop(self, text: str, context: InstallContext) -> str:
        """Return the text without what is ours."""


class OurFile(Protocol):
    """A file of a client with something of ours in it."""

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan that what is ours is in it, or no longer."""


class ConfigFile(NamedTuple):
    """A JSON file of a client with parts of ours; one that is left with a leftover goes."""

    path: PathOf
    parts: Sequence[Part]
    leftovers: Sequence[object] = ({},)

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan that the parts are in the file, or no longer."""

        def change(text: str) -> str:
            for part in self.parts:
                text = part.put(text, context) if is_wanted else part.drop(text, context)
            return text

        return edit_json(self.path(context), change, leftovers=self.leftovers)


def installer_of(
    *files: OurFile, notes: Sequence[str] = (), farewell: Sequence[str] = ()
) -> Installer:
    """Return the installer that plans these files.

    `notes` are what the user has to do then, `farewell` once they are gone.
    """

    def plan(context: InstallContext, *, is_wanted: bool) -> InstallPlan:
        edits = tuple(one.edit(context, is_wanted=is_wanted) for one in files)
        said = notes if is_wanted else farewell if any(one.is_change for one in edits) else ()
        return InstallPlan(edits=edits, notes=tuple(said))

    return Installer(partial(plan, is_wanted=True), partial(plan, is_wanted=False))


# --- changes of a text, and our MCP server in it -------------------------------------------------

IsOurs = Callable[[Any], bool]  # Any: an entry of a foreign file
Change = Callable[[str], str]

_HINT = "correct it, then repeat; nothing was changed"

SERVER = "observer"


def edit_json(path: Path, change: Change, *, leftovers: Sequence[object] = ({},)) -> FileEdit:
    """Plan a change of a JSON file's text; a file that is left with a leftover goes.

    Raises ConfigInvalid, which names the file, if it is no JSON object or of another shape.
    """

    def check(text: str) -> None:
        if not isinstance(jsonc.load(text), dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - the file is wrong, not its reader

    def is_left_over(after: str) -> bool:
        return jsonc.load(after) in leftovers and not jsonc.has_comment(after)

    return edit_text(path, change, check=check, is_left_over=is_left_over)


def edit_text(
    path: Path,
    change: Change,
    *,
    check: Callable[[str], object],
    is_left_over: Callable[[str], bool],
) -> FileEdit:
    """Plan a change of a file's text, "" if it is not there; one that is left over goes.

    `change` gets plain line feeds. Raises ConfigInvalid, which names the file, where `check` or the
    change raises ValueError.
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
    list keeps its place. Raises ValueError if there is something else than a list.
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

    A new entry has the fields `extra`; `flat` returns one as `command`, `args` and `env`, with
    whatever else it holds, and `shaped` is its inverse.
    """

    place: jsonc.Path = ("mcpServers",)
    extra: Mapping[str, object] = {}
    flat: Callable[[Any], Any] = lambda entry: entry
    shaped: Callable[[dict[str, Any]], dict[str, Any]] = lambda entry: entry

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with our MCP server; raise ConfigInvalid if another has its name."""
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
    """Return the entry of our MCP server, brought up to date; raise ConfigInvalid for another's."""
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


# --- hooks ---------------------------------------------------------------------------------------


def scripts(
    client: str, event: str, context: InstallContext, *, start: str = "SessionStart"
) -> list[str]:
    """Return the command lines that report an event; at the start of a session also its context."""
    lines = [command(context.home, "post", client, event)]
    return lines + ([command(context.home, "context", client)] if event == start else [])


def seconds(events: str, timeout: int) -> dict[str, Options]:
    """Return the same timeout for some events, whose names are words."""
    return {event: {"timeout": timeout} for event in events.split()}


def runs_ours(context: InstallContext, entry: object, *, key: str = "command") -> bool:
    """Return True if an entry of a settings file, of any shape, runs one of our scripts."""
    return isinstance(entry, dict) and is_ours(context.home, entry.get(key))


class HookEntries(NamedTuple):
    """Our hooks, `wanted` by event, in a client that keeps a list of them for each.

    `key` is the field with the command line, `version` what the file says of its form.
    """

    wanted: Callable[[InstallContext], Mapping[str, Sequence[object]]]
    key: str = "command"
    version: object = None

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with our hooks, and none of an older version."""
        if self.version is not None and jsonc.at(text, ("version",)) is None:
            text = jsonc.put(text, ("version",), self.version)
        for event, entries in self.wanted(context).items():
            text = merge(text, ("hooks", event), entries, partial(runs_ours, context, key=self.key))
        return text

    def drop(self, text: str, context: InstallContext) -> str:
        """Return the text without our hooks."""
        return _drop_entries(text, partial(runs_ours, context, key=self.key))


class OurHooks(NamedTuple):
    """Our hooks in a client that keeps them as Claude Code does.

    An event holds a list of groups, and a group an optional matcher and a list of handlers. A group
    whose handlers are all ours is ours. It is changed where it stands: Codex CLI trusts a handler
    by its place, and a group that moves would move those of others.

    `reporting` has options of handlers, `recalling` of the groups that ask for a reminder, whose
    handlers have those of `asking`; `matchers` of reported events stand for all tools.
    """

    client: str
    reporting: Mapping[str, Options]
    recalling: Mapping[str, Options] = {}
    asking: Options = MappingProxyType({"timeout": 5})
    matchers: Mapping[str, str] = {}

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with our hooks, and none of an older version."""
        text = _drop_strays(text, context)
        for event in dict.fromkeys((*self.reporting, *self.recalling)):
            groups = self._groups(event, context)
            text = merge(text, ("hooks", event), groups, partial(_is_our_group, context))
        return text

    def drop(self, text: str, context: InstallContext) -> str:
        """Return the text without our hooks."""
        return _drop_entries(_drop_strays(text, context), partial(_is_our_group, context))

    def _groups(self, event: str, context: InstallContext) -> list[object]:
        groups: list[object] = []
        if event in self.reporting:
            lines = scripts(self.client, event, context)
            options = self.reporting[event]
            handlers = [{"type": "command", "command": line, **options} for line in lines]
            matcher = {"matcher": self.matchers[event]} if event in self.matchers else {}
            groups.append({**matcher, "hooks": handlers})
        if event in self.recalling:
            line = command(context.home, "recall", self.client, event)
            asks = {"type": "command", "command": line, **self.asking}
            groups.append({**self.recalling[event], "hooks": [asks]})
        return groups


def our_handlers(text: str, context: InstallContext) -> Iterator[tuple[str, int, int]]:
    """Yield event, place of the group and place in the group of each handler of ours."""
    for event in _events_in(text):
        for place, group in enumerate(_list(text, ("hooks", event))):
            known = enumerate(_handlers(group))
            yield from ((event, place, at) for at, one in known if runs_ours(context, one))


def check_switch(path: PathOf, key: jsonc.Path, context: InstallContext, *, off: bool) -> None:
    """Raise ConfigInvalid if a JSON file has the setting by which a client runs no hooks."""
    file = path(context)
    if jsonc.at((read(file) or b"").decode(errors="replace"), key) is off:
        name = ".".join(map(str, key))
        raise ConfigInvalid(
            f"hooks are switched off by {name} in {file}", hint=f"remove {name} from that file"
        )


def _drop_entries(text: str, is_ours: IsOurs) -> str:
    for event in _events_in(text):
        text = merge(text, ("hooks", event), [], is_ours)
    return text


def _drop_strays(text: str, context: InstallContext) -> str:
    """Take our handlers out of the groups where somebody else's stand as well."""
    for event in _events_in(text):
        for place, group in enumerate(_list(text, ("hooks", event))):
            known = _handlers(group)
            ours = [at for at, one in enumerate(known) if runs_ours(context, one)]
            for at in reversed(ours if len(ours) < len(known) else []):
                text = jsonc.remove(text, ("hooks", event, place, "hooks", at))
    return text


def _events_in(text: str) -> list[str]:
    hooks = jsonc.at(text, ("hooks",))
    return list(hooks) if isinstance(hooks, dict) else []


def _is_our_group(context: InstallContext, group: object) -> bool:
    known = _handlers(group)
    return bool(known) and all(runs_ours(context, one) for one in known)


def _handlers(group: object) -> list[object]:
    known = group.get("hooks") if isinstance(group, dict) else None
    return known if isinstance(known, list) else []


# --- files that are ours as a whole --------------------------------------------------------------

_MARK = "Written by `observer install"
_PRELUDE = Path(__file__).with_name("plugin_prelude.js")


class OwnFile(NamedTuple):
    """A file that is ours as a whole: our mark, and what `home` returns, are in its content."""

    path: PathOf
    content: Callable[[InstallContext], bytes]
    home: Callable[[InstallContext], bytes]

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan the file, or its removal; one of somebody else, or of another home, stays.

        Raises ConfigInvalid if it is wanted, and a file of somebody else has its name.
        """
        path = self.path(context)
        before = read(path)
        is_known = before is not None and _MARK.encode() in before
        if not is_wanted:
            is_gone = is_known and before is not None and self.home(context) in before
            return FileEdit(path=path, before=before, after=None if is_gone else before)
        if before is not None and not is_known:
            raise ConfigInvalid(
                f"{path} is not a file of observer",
                hint="rename or remove it, then repeat; nothing was changed",
            )
        return FileEdit(path=path, before=before, after=self.content(context))


def plug_in(client: str, source: Path, path: PathOf) -> OwnFile:
    """Return a file of JavaScript among a client's plug-ins, which runs our hook scripts.

    What all of ours share is put before the code in `source`.
    """

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

    return OwnFile(path, code, home)
