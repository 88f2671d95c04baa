"""Options that several commands share.

What only a person may do, and only after having said so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from observer.cli.output import F
from observer.clients.attribution import attribute
from observer.core.errors import BadInput, CapturedUserOnly
from observer.core.paths import working_folder


def named_project(about: str) -> Callable[[F], F]:
    """Return the option `--project`; a relative path such as ``.`` names a folder."""
    return click.option(
        "--project",
        "-p",
        callback=lambda _context, _option, handle: handle and _absolute(handle),
        help=about,
    )


def _absolute(handle: str) -> str:
    is_relative = handle in {".", ".."} or handle.startswith(("./", "../"))
    return os.path.normpath(working_folder() / handle) if is_relative else handle


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that restrict what is found."""
    for option in (
        click.option("--until", default="", help="Only before then."),
        click.option("--since", default="", help="Only from then on: 2026-11-21, or 7d for ago."),
        click.option("--branch", default="", help="Only of this git branch."),
        click.option("--session", default="", help="Only of this session, by its id."),
        click.option(
            "--file", "files", multiple=True, help="Only what touched this file or folder."
        ),
        click.option("--type", "type", default="", help="Only these types, e.g. commit,decision."),
    ):
        command = option(command)
    return command


def refuse_agents(message: str) -> None:
    """Let nobody but a person go on.

    Raises:
        CapturedUserOnly: an agent runs this, with the message.
    """
    if attribute(os.environ).author == "agent":
        raise CapturedUserOnly(message, hint="ask the person to run it")


def confirm_for_good(question: str, *, refusal: str, as_json: bool) -> None:
    """Ask whether to go on with what cannot be taken back.

    Raises:
        BadInput: there is nobody to ask, with the refusal.
        click.Abort: the answer was no.
    """
    if as_json or not sys.stdin.isatty():
        raise BadInput(refusal, hint="add --yes, or --dry-run to look only")
    click.confirm(question, abort=True)
