"""The two commands that programs start rather than people: the pump, and the daemon itself.

Little is imported here: of twenty processes that start a daemon at once nineteen leave at the lock.
"""

from __future__ import annotations

import os
import sys

import click

from observer.cli.output import note
from observer.clock import now_ms
from observer.daemon.lock import take
from observer.errors import ObserverError
from observer.paths import Home, home


@click.command(
    "mcp",
    context_settings={"ignore_unknown_options": True},
    epilog="Example: claude mcp add observer -- observer mcp",
)
@click.option("--tools", help="Names of the toolsets to offer, separated by commas.")
def mcp_command(*, tools: str | None) -> int:
    """Serve MCP on standard input and output; editors start this command."""
    from observer import pump  # noqa: PLC0415 - `observer.__main__` comes here only for the help

    return pump.main(["--tools", tools] if tools else [])


@click.command("daemon", hidden=True, epilog="Example: observer daemon")
def daemon_command() -> int:
    """Be the daemon, in the foreground, until told to stop; leave quietly if there is one."""
    if take(home()) is None:
        return 0
    _refresh_hooks(home())
    from observer.daemon.daemon import run  # noqa: PLC0415 - losers of a race leave before

    code = run(home())
    if code and home().damage.exists():
        # What was found damaged is mended at a start; nobody has to ask for it.
        os.execv(sys.executable, [sys.executable, "-P", "-m", "observer", "daemon"])  # noqa: S606 - ourselves
    return code


def _refresh_hooks(here: Home) -> None:
    """Bring installed hooks up to this version; their paths are in clients' files for good."""
    if not here.hooks.is_dir():
        return
    from observer.install import Plan, hook_files, perform  # noqa: PLC0415 - as above

    try:
        perform(Plan(edits=tuple(hook_files(here))), here, at_ms=now_ms())
    except ObserverError as error:
        note(f"hooks were not refreshed: {error}")
