"""The commands that tell the story of the code."""

from __future__ import annotations

import click

from observer.cli.ask import ask
from observer.cli.output import json_option


@click.command("why", epilog="Example: observer why src/auth.py::login")
@click.argument("target", metavar="FILE[:LINE|::NAME]")
@json_option
def why_command(*, target: str, as_json: bool) -> None:
    """Tell why code is as it is: which commits and sessions made it, what was asked and tried."""
    ask("why", as_json=as_json, target=target)
