"""What commands share: options, harmless output, and what only a person may do."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest
from typing import Any, TextIO, TypeVar

import click
import msgspec
import orjson

from observer.cli import completion
from observer.clients.registry import attribute
from observer.core import moment
from observer.core.errors import BadInput, CapturedUserOnly, ObserverError
from observer.core.paths import working_folder

F = TypeVar("F", bound=Callable[..., Any])

_UNDER = 4
"""Columns by which what belongs to a line stands below it."""
_WORD_CELLS = 11
"""Columns of a word that has a colour; types that observer gives have up to ten letters."""
_LEAST_CELLS = 16
"""A column is not folded to less."""
_ROOMY_CELLS = 36
"""Columns that can be spared are left out before another is folded to less."""
_NUMBER = re.compile(r"(?:[\d,.]+(?: [KMG]?i?B)?)?")
_WIDE = "\u1100-\u115f\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003fffd"
_CLOSING = "\u3001\u3002\u300d\u300f\uff01\uff09\uff0c\uff0e\uff1f"
_WORD = re.compile(rf"[{_WIDE}][{_CLOSING}]*\s*|[^\s{_WIDE}]+\s*|\s+")
"""A line may end after any: a word, or a letter of a writing that has no blanks between words."""
_START = re.compile(r"\s*(?:\S+ ){0,2}\S+ {2,}")
"""The name before a value: what is folded of the value stands below it."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that move a cursor, recolour or reorder text; line feeds and tabs are kept."""


_WANTS_JSON: ContextVar[bool] = ContextVar("wants_json", default=False)


def wants_json() -> bool:
    """Return True if the command that runs was given `--json`."""
    return _WANTS_JSON.get()


OUTPUT_OPTIONS = [
    click.Option(
        [name],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=lambda _context, _option, given, heed=heed: heed(given),
        help=about,
    )
    for name, about, heed in (
        ("--json", "Print JSON instead of text.", _WANTS_JSON.set),
        ("--utc", "Show times in UTC.", lambda given: moment.show_local(is_local=not given)),
    )
]
"""Of every command; what it prints heeds them by itself, and shows local times without `--utc`.

The daemon, which shows UTC to agents, has neither option."""


def limit_option(default: int, about: str, *, most: int | None = None) -> Callable[[F], F]:
    """Give a command the option `--limit`: at least 1, and no more than `most`."""
    span = click.IntRange(1, most)
    return click.option("--limit", "-n", type=span, default=default, show_default=True, help=about)


def as_json(value: object) -> bool:
    """Print a value as JSON if that is wanted; return whether it was."""
    if wants_json():
        emit(value)
    return wants_json()


def emit(value: object) -> None:
    """Print one value as a line of JSON."""
    sys.stdout.buffer.write(escaped(msgspec.json.encode(value)) + b"\n")


def escaped(json: bytes) -> bytes:
    """Return the same JSON with terminal control characters escaped."""
    # JSON itself requires that only below 0x20.
    if json.isascii() and b"\x7f" not in json:
        return json
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", json.decode()).encode()


def say(text: str, *, is_exact: bool = False) -> None:
    """Print text for a person, folded at words to the width of a terminal unless `is_exact`."""
    click.echo(clean(text) if is_exact else _fitted(clean(text), _width(sys.stdout)))


def respond(value: object, text: str, *, remark: str = "") -> None:
    """Print a value for scripts; for people a text, and a remark to stderr if there is one."""
    if as_json(value):
        return
    if text:
        say(text)
    if remark:
        note(remark)


def note(text: str) -> None:
    """Print a remark for a person to stderr."""
    click.echo(_fitted(clean(text), _width(sys.stderr)), err=True)


def fields(rows: Collection[tuple[str, str]]) -> None:
    """Print names with their values, a line each."""
    widest = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"{name:<{widest}}  {value}")


def clean(text: str) -> str:
    """Return text without terminal control characters, and with line feeds only."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def marked_line(before: Iterable[tuple[str, int]], word: str, rest: str, *, colour: str) -> None:
    """Print cells with their widths, a coloured word and the rest, cut at the terminal's width."""
    texts = [(clean(text), width) for text, width in before]
    cells = [_head(text, width) + " " * (width - _cells(text)) for text, width in texts]
    start, kind = "  ".join([*cells, ""]), f"{word[:_WORD_CELLS]:<{_WORD_CELLS}}"
    room = (_width(sys.stdout) or sys.maxsize) - _cells(start) - _WORD_CELLS - 2
    is_coloured = bool(colour) and not os.environ.get("NO_COLOR")
    shown = click.style(clean(kind), fg=colour) if is_coloured else clean(kind)
    click.echo(f"{start}{shown}  {_head(clean(rest), max(room, _LEAST_CELLS))}".rstrip())


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    spare: Sequence[str] = (),
    none: str = "",
    value: object = None,
) -> None:
    """Print rows in aligned columns, numbers to the right; `none` without rows, a `value` as JSON.

    Where a terminal is too narrow, the widest column is folded, once the `spare` ones are left out,
    in that order, for which it would have less than `_ROOMY_CELLS`.
    """
    if value is not None and as_json(value):
        return
    texts = (["" if value is None else str(value) for value in row] for row in rows)
    cells = [[" ".join(clean(text).split()) for text in row] for row in texts]
    if none and not cells:
        say(none)
        return
    wide = [max(map(_cells, column)) for column in zip(columns, *cells, strict=True)]
    shown, limit = [*range(len(columns))], _width(sys.stdout)
    if limit:
        left_out = [columns.index(name) for name in spare]
        widest = max({*shown} - {*left_out}, key=wide.__getitem__)
        least = min(wide[widest], _ROOMY_CELLS)
        room = limit + 2 - sum(wide) - 2 * len(shown)
        while left_out and wide[widest] + room < least:
            room += wide[left_out[0]] + 2
            shown.remove(left_out.pop(0))
        wide[widest] = max(wide[widest] + min(room, 0), min(wide[widest], _LEAST_CELLS))
    rights = [all(_NUMBER.fullmatch(row[at]) for row in cells) for at in range(len(columns))]
    for number, row in enumerate([columns, *cells]):
        parts = [_folded(row[at], wide[at], breaks=bool(limit)) for at in shown]
        for line in zip_longest(*parts, fillvalue=""):
            padded = []
            for at, part in zip(shown, line, strict=True):
                spaces = " " * (wide[at] - _cells(part))
                padded.append(spaces + part if rights[at] else part + spaces)
            text = "  ".join(padded).rstrip()
            click.echo(text if number else click.style(text, bold=True))


def _width(stream: TextIO) -> int:
    """Return the columns of a terminal; 0 for what has no width, as a pipe."""
    return shutil.get_terminal_size().columns if stream.isatty() else 0


def _cells(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for a letter of Chinese."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - a tenth of a second

    return cell_len(text)


def _fitted(text: str, width: int) -> str:
    """Return text whose lines are folded at words; what is folded stands below its beginning."""
    if not width:
        return text
    return "\n".join(line for long in text.split("\n") for line in _hanging(long, width))


def _hanging(line: str, width: int) -> list[str]:
    if _cells(line) <= width:
        return [line]
    start = _START.match(line)
    head = start[0] if start and len(start[0]) <= width // 3 else line[: -len(line.lstrip())]
    hang = len(head) if head.strip() or len(head) >= _UNDER else len(head) + _UNDER
    first, *rest = _folded(line[len(head) :], width - hang)
    return [head + first, *(" " * hang + each for each in rest)]


def _folded(text: str, cells: int, *, breaks: bool = False) -> list[str]:
    """Return text in lines of so many columns; with `breaks`, long words and paths are broken."""
    lines = [""]
    for word in _WORD.findall(text):
        if lines[-1] and _cells(lines[-1]) + _cells(word.rstrip()) > cells:
            lines.append("")
        lines[-1] += word
        while breaks and _cells(lines[-1].rstrip()) > cells:
            head = _head(lines[-1], cells)
            at = head.rfind("/") + 1 or len(head)
            lines[-1:] = [head[:at], lines[-1][at:]]
    return [each.rstrip() for each in lines]


def _head(text: str, cells: int) -> str:
    if text.isascii():
        return text[:cells]
    from rich.cells import chop_cells  # noqa: PLC0415 - as above

    return chop_cells(text, cells)[0]


@contextmanager
def progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar inside the block; call what is yielded with the count done."""
    from rich import progress as bars  # noqa: PLC0415 - rich is for those who can see it
    from rich.console import Console  # noqa: PLC0415 - as above

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())
    console, hidden = Console(stderr=True), not sys.stderr.isatty()
    with bars.Progress(
        *columns, bars.TimeRemainingColumn(), console=console, disable=hidden
    ) as shown:
        task = shown.add_task(name, total=total)
        yield lambda count: shown.advance(task, count)


def complain(error: ObserverError, *, is_json: bool) -> int:
    """Print an error to stderr and return its exit code."""
    if is_json:
        problem = {"code": error.code, "message": error.message, "hint": error.hint}
        click.echo(escaped(orjson.dumps({"error": problem})), err=True)
        return error.exit_code
    note(f"error: {error.message}")
    if error.hint:
        note(f"hint: {error.hint}")
    return error.exit_code


def named_project(about: str) -> Callable[[F], F]:
    """Return the option `--project`; a relative path such as ``.`` names a folder."""

    def absolute(_context: click.Context, _: click.Parameter, handle: str | None) -> str | None:
        is_relative = handle in {".", ".."} or (handle or "").startswith(("./", "../"))
        return os.path.normpath(working_folder() / handle) if handle and is_relative else handle

    return click.option(
        "--project", "-p", callback=absolute, shell_complete=completion.projects, help=about
    )


def scope_options(command: F) -> F:
    """Add the options that say of which projects: that of the current folder, one, or all."""
    everywhere = click.option("--all", "everywhere", is_flag=True, help="In all projects.")
    return named_project("Name, folder or remote; else the one here, if any.")(everywhere(command))


def refuse_agents(message: str) -> None:
    """Let nobody but a person go on. Raises CapturedUserOnly: an agent runs this."""
    if attribute(os.environ).author == "agent":
        raise CapturedUserOnly(message, hint="ask the person to run it")


def confirm_once(
    question: str, *, yes: bool, refusal: str, hint: str = "add --yes, or --dry-run to look only"
) -> None:
    """Ask whether to go on, unless `yes`. Raises BadInput: nobody can be asked; click.Abort: no."""
    if yes:
        return
    if wants_json() or not sys.stdin.isatty():
        raise BadInput(f"{refusal}: there is no terminal to ask on", hint=hint)
    if not click.confirm(question):
        note(refusal)
        raise click.Abort
