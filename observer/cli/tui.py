"""The command `tui`: look at the memory on the whole screen of a terminal."""

from __future__ import annotations

import sys
from pkgutil import resolve_name

import click

from observer.cli.output import json_option, wants_json
from observer.cli.read import answer
from observer.cli.session import on_behalf, written
from observer.core.errors import BadInput, ObserverError
from observer.core.paths import home
from observer.core.text import extra_hint
from observer.local import client


@click.command("tui", epilog="Example: observer tui")
@json_option
def tui_command() -> int:
    """Look at the memory on the whole terminal, and settle notes."""
    if wants_json() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "for scripts: observer search, observer sessions, observer note review"
        raise BadInput("the screens need a terminal", hint=hint)
    try:
        run = resolve_name("observer.cli.screens.app:run")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "textual":
            raise
        message = "observer tui needs the package textual"
        raise ObserverError(message, hint=extra_hint("tui")) from error
    client.ensure_daemon(home())
    code: int = run(answer, on_behalf, written)
    return code
