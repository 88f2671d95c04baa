"""The man page of the command line, from what `--help` is made of.

    scripts/man.py    write docs/reference/observer.1 anew

A test fails where the page in the repository is another; the wheel puts it into share/man/man1.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import click

import docs
from observer import __version__
from observer.cli.app import observer
from observer.cli.commands import PURPOSES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "observer.1"


def page() -> str:
    """Return the page in the macros of man(7)."""
    root = click.Context(observer, info_name="observer")
    codes = (
        f".TP\n.B {number}\n" + "\n".join(_text(about) for *_, about in rows)
        for number, rows in groupby(docs.exit_code_rows(), key=itemgetter(0))
    )
    return "\n".join(
        [
            f'.TH OBSERVER 1 "" "observer {__version__}" "observer"',
            ".SH NAME\nobserver \\- the memory that coding agents lack",
            ".SH SYNOPSIS\n.B observer\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
            f".SH DESCRIPTION\n{_text(inspect.cleandoc(observer.help or ''))}",
            *(line for purpose, names in PURPOSES.items() for line in _group(purpose, names, root)),
            ".SH EXIT STATUS\n.TP\n.B 0\nDone.",
            *codes,
            ".SH ENVIRONMENT\n.TP\n.B OBSERVER_HOME",
            _text("The home directory, with all state in it; ~/.observer if it is not set."),
            ".TP\n.B NO_COLOR\nIf it is not empty, nothing is coloured.\n",
        ]
    )


def _group(purpose: str, names: dict[str, str], root: click.Context) -> Iterator[str]:
    yield f".SH {_text(purpose.upper())}"
    for name in names:
        command = observer.get_command(root, name)
        if command and not command.hidden:
            yield from _command(command, click.Context(command, root, info_name=name))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "{_text(f"{context.command_path} {pieces}")}"\n{_text(command.help or "")}'
    for option in command.params:
        is_said = isinstance(option, click.Option) and option.name not in docs.EVERYWHERE
        if is_said and (record := option.get_help_record(context)):
            yield f".TP\n.B {_text(record[0])}\n{_text(record[1])}"
    if command.epilog:
        yield f".PP\n{_text(command.epilog)}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below and not below.hidden:
                yield from _command(below, click.Context(below, context, info_name=name))


def _text(text: str) -> str:
    """Return text as roff takes it, a paragraph to each of its own."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").splitlines()
    # A line that begins so would be a macro.
    safe = (f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)
    return "\n".join(line.strip() or ".PP" for line in safe)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
