"""The table of commands by purpose; a command's module is imported when the command runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

import click

from observer.cli.output import OUTPUT_OPTIONS
from observer.core.errors import BadInput
from observer.core.text import did_you_mean

Given: TypeAlias = Any
"""Options of a command, as click passes them."""

PURPOSES = {
    "Look": {
        "search": "read", "context": "read", "timeline": "read", "why": "read", "graph": "read",
        "show": "read", "sessions": "read", "today": "read", "web": "read", "tui": "read",
    },
    "Write": {"remember": "write", "note": "note", "import": "import_", "post": "write"},
    "Keep out, take out": {
        "pause": "pause", "policy": "policy", "forget": "note", "undo": "note", "purge": "purge",
    },
    "Share": {"sync": "sync", "promote": "sync"},
    "Set up": {"install": "install", "uninstall": "install", "config": "config", "mcp": "mcp"},
    "Operate": {
        "status": "lifecycle", "doctor": "doctor.command", "log": "read", "up": "lifecycle",
        "down": "lifecycle", "backup": "backup", "restore": "backup", "export": "backup",
        "daemon": "daemon",
    },
}  # fmt: skip
"""The module of every command, by purpose; its function is `<name>_command`."""

COMMANDS = {name: module for group in PURPOSES.values() for name, module in group.items()}

OTHER_NAMES = {
    "add": "remember", "blame": "why", "delete": "forget", "find": "search", "get": "show",
    "logs": "log", "start": "up", "stop": "down",
}  # fmt: skip
"""Commands of ours by the names that other programs use."""


class Group(click.Group):
    """A group that suggests commands; `later` has modules, imported when their command runs."""

    def __init__(self, *, later: Mapping[str, str] = {}, **others: Any) -> None:  # noqa: ANN401 - of click; never changed
        super().__init__(**others)
        self._later = later
        if (own := self.callback) and self.invoke_without_command:
            self.callback = lambda **given: (
                None if click.get_current_context().invoked_subcommand else own(**given)
            )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, those of the table in its order."""
        return [*super().list_commands(ctx), *self._later]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        if cmd_name not in self._later:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"observer.cli.{self._later[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names. Raises BadInput: there is none."""
        names = self.list_commands(ctx)
        if args[0] in names or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        other = [name for name in names if name == OTHER_NAMES.get(args[0])]
        near = get_close_matches(args[0].lower(), names, n=2) or other
        hint = did_you_mean(near, f"see: {ctx.command_path} --help")
        raise BadInput(f"no command {args[0][:80]!r}", hint=hint)


def command(
    name: str,
    example: str,
    *,
    of: click.Group | None = None,
    **others: Any,  # noqa: ANN401 - of `click.command`
) -> Callable[[Callable[..., Any]], Any]:
    """Return what makes a command of a function, with `--json`, `--utc` and an example call."""

    def made(function: Callable[..., Any]) -> click.Command:
        make: Callable[..., click.Command] = click.command(
            name, epilog=f"Example: {example}", **others
        )
        built = make(function)
        built.params += OUTPUT_OPTIONS
        if of is not None:
            of.add_command(built)
        return built

    return made


listing = partial(command, cls=Group, invoke_without_command=True)
"""Makes a group, whose function runs where no subcommand is named."""


class Commands(Group):
    """The group of all commands, whose help lists them by purpose."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by purpose."""
        widest = max(map(len, COMMANDS))
        for purpose, names in PURPOSES.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (name.ljust(widest), command.get_short_help_str(formatter.width - 6 - widest))
                for name, command in found
                if command and not command.hidden
            ]
            with formatter.section(purpose):
                formatter.write_dl(rows)
