"""What only a person may do, and only after confirming it."""

from __future__ import annotations

import os
import sys

import click

from observer.cli.output import note, wants_json
from observer.clients.attribution import attribute
from observer.core.errors import BadInput, CapturedUserOnly


def refuse_agents(message: str) -> None:
    """Let nobody but a person go on.

    Raises:
        CapturedUserOnly: an agent runs this, with the message.
    """
    if attribute(os.environ).author == "agent":
        raise CapturedUserOnly(message, hint="ask the person to run it")


def confirm_once(
    question: str,
    *,
    refusal: str,
    hint: str = "add --yes, or --dry-run to look only",
) -> None:
    """Ask whether to go on with what was shown.

    Raises:
        BadInput: there is nobody to ask, with the refusal and the hint.
        click.Abort: the answer was no, which the refusal says.
    """
    if wants_json() or not sys.stdin.isatty():
        raise BadInput(f"{refusal}: there is no terminal to ask on", hint=hint)
    if not click.confirm(question):
        note(refusal)
        raise click.Abort
