"""Output of commands: JSON for scripts, tables for people, plain columns into pipes.

The content comes from files, commands and editors; its control characters must not reach the
terminal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
import msgspec
import orjson

from observer.core.errors import ObserverError

F = TypeVar("F", bound=Callable[..., Any])

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that move a cursor, recolour or reorder text; line feeds and tabs are kept."""


def json_option(command: F) -> F:
    """Give a command the option `--json`, as the argument `as_json`."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
    return option(command)


def limit_option(default: int, about: str, *, most: int | None = None) -> Callable[[F], F]:
    """Give a command the option `--limit`: at least 1, and no more than `most`."""
    return click.option(
        "--limit",
        "-n",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        help=about,
    )


def emit(value: object) -> None:
    """Print one value as a line of JSON."""
    sys.stdout.buffer.write(escaped(msgspec.json.encode(value)) + b"\n")


def escaped(json: bytes) -> bytes:
    """Return the same JSON with terminal control characters escaped."""
    # JSON itself requires that only below 0x20.
    if json.isascii() and b"\x7f" not in json:
        return json
    return _CONTROL.sub(_escape, json.decode()).encode()


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def say(text: str) -> None:
    """Print text for a person."""
    click.echo(clean(text))


def note(text: str) -> None:
    """Print a remark for a person to stderr."""
    click.echo(clean(text), err=True)


def clean(text: str) -> str:
    """Return text without terminal control characters, and with line feeds only."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def breakdown(counts: Mapping[str, int]) -> str:
    """Return ``": 3 edit, 1 prompt"``, to follow a total; "" for no counts."""
    return ": " + ", ".join(f"{count} {name}" for name, count in counts.items()) if counts else ""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows: a table on a terminal, else a line each, separated by tabs, with a header."""
    cells = [[" ".join(clean(_text(value)).split()) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [[name.lower() for name in columns], *cells]:
            click.echo("\t".join(row))
        return
    from observer.cli.terminal import draw  # noqa: PLC0415 - rich is for those who can see it

    draw(columns, cells)


def complain(error: ObserverError, *, as_json: bool) -> int:
    """Print an error to stderr and return its exit code."""
    if as_json:
        problem = {"code": error.code, "message": error.message, "hint": error.hint}
        click.echo(escaped(orjson.dumps({"error": problem})), err=True)
        return error.exit_code
    note(f"error: {error.message}")
    if error.hint:
        note(f"hint: {error.hint}")
    return error.exit_code


def _text(value: object) -> str:
    return "" if value is None else str(value)
