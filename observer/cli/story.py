"""The commands that tell the story of the code."""

from __future__ import annotations

import click

from observer.cli.output import emit, json_option, say
from observer.cli.reach import open_memory
from observer.front.toolsets import tools_of
from observer.paths import working_folder


@click.command("why", epilog="Example: observer why src/auth.py::login")
@click.argument("target", metavar="FILE[:LINE|::NAME]")
@json_option
def why_command(*, target: str, as_json: bool) -> None:
    """Tell why code is as it is: which commits and sessions made it, what was asked and tried."""
    with open_memory() as memory:
        tools = tools_of(("story",), memory, lambda: str(working_folder()))
        answer = tools["why"].call({"target": target})
    if as_json:
        emit(answer.result)
    else:
        say(answer.text)
