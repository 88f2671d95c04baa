"""What an installer puts into a client's files: our hooks, our MCP server, a plug-in of ours.

Each part is put in, brought up to date and taken out; everybody else's entries, their order and
their comments stay. Most installers are a table of files and the parts in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from observer.clients.client import Installer
from observer.clients.config_files import jsonc
from observer.clients.config_files.context import InstallContext, InstallPlan, command, is_ours
from observer.clients.config_files.file_edits import FileEdit, read
from observer.clients.config_files.json_entries import IsOurs, edit_json, merge
from observer.core.errors import ConfigInvalid
from observer.core.json_text import dump

Options: TypeAlias = Mapping[str, object]
PathOf: TypeAlias = Callable[[InstallContext], Path]


class Part(Protocol):
    """What is ours in the text of a JSON file.

    Both methods raise ValueError if the text has another shape than they need.
    """

    def put(self, text: str, context: InstallContext) -> str:
        """Return the text with what is ours, and nothing of an older version."""

    def drop(self, text: str, context: InstallContext) -> str:
        """Return the text without what is ours."""


class OurFile(Protocol):
    """A file of a client with something of ours in it."""

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan that what is ours is in it, or no longer."""


class ConfigFile(NamedTuple):
    """A JSON file of a client; one that is left with a leftover goes.

    Attributes:
        path: returns where it is.
        parts: what of ours is in it.
        leftovers: what is worth nothing without us.
    """

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


def installer_of(*files: OurFile, notes: Sequence[str] = ()) -> Installer:
    """Return the installer that plans these files; `notes` are what the user has to do then."""

    def plan(context: InstallContext, *, is_wanted: bool) -> InstallPlan:
        edits = tuple(one.edit(context, is_wanted=is_wanted) for one in files)
        return InstallPlan(edits=edits, notes=tuple(notes) if is_wanted else ())

    return Installer(partial(plan, is_wanted=True), partial(plan, is_wanted=False))


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
    """Our hooks in a client that keeps a list of them for each event.

    Attributes:
        wanted: returns ours by event.
        key: the field with the command line.
        version: what the file says of its form; None if it says nothing.
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

    Attributes:
        client: what our scripts call it.
        reporting: events that are reported, with the options of their handlers.
        recalling: events at which memory is asked for a reminder, with the options of their groups.
        asking: options of the handlers that ask.
        matchers: of reported events, the matcher that stands for all tools.
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
    yield from (
        (event, place, at) for event, place, at, one in handlers(text) if runs_ours(context, one)
    )


def handlers(text: str) -> Iterator[tuple[str, int, int, object]]:
    """Yield event, place of the group, place in the group and entry of each handler."""
    for event in _events_in(text):
        groups = jsonc.at(text, ("hooks", event))
        for place, group in enumerate(groups if isinstance(groups, list) else []):
            yield from ((event, place, at, one) for at, one in enumerate(_handlers(group)))


def check_switch(path: PathOf, key: jsonc.Path, context: InstallContext, *, off: bool) -> None:
    """Look at the setting of a JSON file by which a client runs no hooks at all.

    Raises:
        ConfigInvalid: it is set so.
    """
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
        groups = jsonc.at(text, ("hooks", event))
        for place, group in enumerate(groups if isinstance(groups, list) else []):
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


# --- plug-ins ------------------------------------------------------------------------------------

_OURS = "// Written by `observer install"
_PRELUDE = Path(__file__).with_name("plugin_prelude.js")


class PlugIn(NamedTuple):
    """A file of JavaScript among a client's plug-ins, which runs our hook scripts.

    Attributes:
        client: whose it is.
        source: its code; what all of ours share is put before it.
        path: returns where it goes.
    """

    client: str
    source: Path
    path: PathOf

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan the file, or its removal; one of somebody else, or of another home, stays.

        Raises:
            ConfigInvalid: it is wanted, and a file of somebody else has its name.
        """
        path = self.path(context)
        before = read(path)
        is_known = before is not None and before.startswith(_OURS.encode())
        if not is_wanted:
            is_gone = is_known and before is not None and _home(context) in before
            return FileEdit(path=path, before=before, after=None if is_gone else before)
        if before is not None and not is_known:
            raise ConfigInvalid(
                f"{path} is not a file of observer",
                hint="rename it, then repeat; nothing was changed",
            )
        return FileEdit(path=path, before=before, after=self._code(context).encode())

    def _code(self, context: InstallContext) -> str:
        name = self.client
        head = f"{_OURS} {name}`; `observer uninstall {name}` removes it.\n"
        constants = f'const CLIENT = "{name}"\nconst HOOKS = {_home(context).decode()}\n'
        texts = (path.read_text(encoding="utf-8") for path in (_PRELUDE, self.source))
        lines = "".join(texts).splitlines(keepends=True)
        # Imports come first in a module.
        imports = [line for line in lines if line.startswith("import ")]
        rest = [line for line in lines if not line.startswith("import ")]
        return head + "".join(imports) + "\n" + constants + "".join(rest)


def _home(context: InstallContext) -> bytes:
    return dump(str(context.home.hooks))
