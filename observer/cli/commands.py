"""The table of commands by purpose, and their lookup by name.

A command's module is imported when the command runs, so that `observer status` does not pay for
what `observer import git` needs.
"""

from __future__ import annotations

import importlib
from difflib import get_close_matches

import click

from observer.core.errors import BadInput

PURPOSES = {
    "Look": {
        "search": "read",
        "timeline": "read",
        "show": "read",
        "why": "read",
        "attribution": "attribution",
        "context": "read",
        "recall": "read",
        "today": "read",
        "week": "read",
        "session": "read",
        "sessions": "read",
        "projects": "read",
    },
    "Write": {
        "remember": "write",
        "note": "note",
        "post": "write",
        "import": "import_",
    },
    "Privacy": {
        "policy": "policy",
        "pause": "pause",
        "resume": "pause",
    },
    "Forget": {
        "forget": "note",
        "purge": "purge",
        "redact": "redact",
    },
    "Set up": {
        "install": "install",
        "uninstall": "install",
        "snippets": "install",
        "tools": "tools",
        "mcp": "serve",
        "config": "config",
        "model": "model",
        "llm": "llm",
    },
    "Operate": {
        "up": "lifecycle",
        "down": "lifecycle",
        "status": "lifecycle",
        "doctor": "doctor",
        "retry": "maintenance",
        "du": "du",
        "eval": "eval",
        "bench": "bench",
        "rebuild": "maintenance",
        "export": "maintenance",
        "backup": "backup",
        "restore": "backup",
        "daemon": "serve",
    },
}
"""The module of every command, by purpose; its function is `<name>_command`."""

COMMANDS = {name: module for group in PURPOSES.values() for name, module in group.items()}

OTHER_NAMES = {
    "add": "remember", "blame": "why", "delete": "forget", "find": "search", "get": "show",
    "log": "timeline", "start": "up", "stop": "down",
}  # fmt: skip
"""Commands of ours by the names that other programs use."""


class Group(click.Group):
    """A group that suggests commands for an unknown name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names.

        Raises:
            BadInput: there is no such command.
        """
        names = self.list_commands(ctx)
        if args[0] in names or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        near = get_close_matches(args[0].lower(), names, n=2) or [
            name for name in names if name == OTHER_NAMES.get(args[0])
        ]
        raise BadInput(f"no command {args[0][:80]!r}", hint=did_you_mean(near, ctx.command_path))


class Commands(Group):
    """The group of all commands; it imports each on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"observer.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

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


def did_you_mean(near: list[str], path: str) -> str:
    """Return a hint with similar names, and the command whose help lists all."""
    asked = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{asked}see: {path} --help"
