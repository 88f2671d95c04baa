"""Our hooks in a client that keeps them as Claude Code does: put in, brought up to date, taken out.

An event holds a list of groups, and a group an optional matcher and a list of handlers. A group
whose handlers are all ours is ours. It is changed where it stands: Codex CLI trusts a handler by
its place, and a group that moves would move those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan, command, is_ours
from observer.config_files.file_edits import read
from observer.config_files.json_entries import IsOurs, drop_server, edit_json, merge, put_server
from observer.core.errors import ConfigInvalid

Options: TypeAlias = Mapping[str, object]

_START = "SessionStart"


class OurHooks(NamedTuple):
    """The hooks of ours that a client runs.

    Attributes:
        client: what our scripts call it.
        reporting: events that are reported, with the options of their handlers.
        recalling: events at which memory is asked for a reminder, with the options of their groups.
        asking: options of the handlers that ask.
        matchers: of reported events, the matcher that stands for all tools.
    """

    client: str
    reporting: Mapping[str, Options]
    recalling: Mapping[str, Options]
    asking: Options
    matchers: Mapping[str, str]


class SettingsFile(NamedTuple):
    """The installer of a client that keeps its hooks and MCP servers in one file.

    Attributes:
        path: returns where the file is.
        hooks: what goes into it beside the MCP server.
        note: what the user has to do then.
    """

    path: Callable[[InstallContext], Path]
    hooks: OurHooks
    note: str

    def install(self, context: InstallContext) -> InstallPlan:
        """Plan the hooks and the MCP server."""
        edit = edit_json(
            self.path(context),
            lambda text: put_server(put(text, self.hooks, context), context),
        )
        return InstallPlan(edits=(edit,), notes=(self.note,))

    def uninstall(self, context: InstallContext) -> InstallPlan:
        """Plan the removal of both."""
        edit = edit_json(self.path(context), lambda text: drop(drop_server(text, context), context))
        return InstallPlan(edits=(edit,))


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


def check_switch(path: Path, key: jsonc.Path, *, off: bool) -> None:
    """Look at the setting of a JSON file by which a client runs no hooks at all.

    Raises:
        ConfigInvalid: it is set so.
    """
    if jsonc.at((read(path) or b"").decode(errors="replace"), key) is off:
        name = ".".join(map(str, key))
        raise ConfigInvalid(
            f"hooks are switched off by {name} in {path}", hint=f"remove {name} from that file"
        )


def put(text: str, hooks: OurHooks, context: InstallContext) -> str:
    """Return a settings file with our hooks in it, and none of an older version.

    Raises:
        ValueError: `hooks`, or an event in it, has another shape.
    """
    text = _drop_strays(text, context)
    for event in dict.fromkeys((*hooks.reporting, *hooks.recalling)):
        groups = _groups(hooks, event, context)
        text = merge(text, ("hooks", event), groups, lambda group: _is_our_group(context, group))
    return text


def drop(text: str, context: InstallContext) -> str:
    """Return a settings file without our hooks.

    Raises:
        ValueError: an event has another shape.
    """
    return drop_entries(_drop_strays(text, context), lambda group: _is_our_group(context, group))


def drop_entries(text: str, is_ours: IsOurs) -> str:
    """Return a settings file without those entries in the lists of its hooks' events.

    Raises:
        ValueError: an event has another shape.
    """
    for event in _events_in(text):
        text = merge(text, ("hooks", event), [], is_ours)
    return text


def runs_ours(context: InstallContext, entry: object, *, key: str = "command") -> bool:
    """Return True if an entry of a settings file, of any shape, runs one of our scripts."""
    return isinstance(entry, dict) and is_ours(context.home, entry.get(key))


def _drop_strays(text: str, context: InstallContext) -> str:
    """Take our handlers out of the groups where somebody else's stand as well."""
    for event in _events_in(text):
        groups = jsonc.at(text, ("hooks", event))
        for place, group in enumerate(groups if isinstance(groups, list) else []):
            handlers = _handlers(group)
            ours = [
                number for number, handler in enumerate(handlers) if runs_ours(context, handler)
            ]
            for number in reversed(ours if len(ours) < len(handlers) else []):
                text = jsonc.remove(text, ("hooks", event, place, "hooks", number))
    return text


def _events_in(text: str) -> list[str]:
    hooks = jsonc.at(text, ("hooks",))
    return list(hooks) if isinstance(hooks, dict) else []


def _groups(hooks: OurHooks, event: str, context: InstallContext) -> list[object]:
    groups: list[object] = []
    if event in hooks.reporting:
        lines = [command(context.home, "post", hooks.client, event)]
        if event == _START:
            lines.append(command(context.home, "context", hooks.client))
        options = hooks.reporting[event]
        handlers = [{"type": "command", "command": line, **options} for line in lines]
        matcher = {"matcher": hooks.matchers[event]} if event in hooks.matchers else {}
        groups.append({**matcher, "hooks": handlers})
    if event in hooks.recalling:
        line = command(context.home, "recall", hooks.client, event)
        asks = {"type": "command", "command": line, **hooks.asking}
        groups.append({**hooks.recalling[event], "hooks": [asks]})
    return groups


def _is_our_group(context: InstallContext, group: object) -> bool:
    handlers = _handlers(group)
    return bool(handlers) and all(runs_ours(context, handler) for handler in handlers)


def _handlers(group: object) -> list[object]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []
