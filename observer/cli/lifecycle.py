"""The commands `up`, `down` and `status`."""

from __future__ import annotations

import click
import msgspec

from observer.cli import output
from observer.cli.commands import command
from observer.cli.read import show_projects
from observer.cli.session import mention_paused
from observer.core.paths import home
from observer.local import client
from observer.tools.status import current, status_rows
from observer.upkeep import home_guard

WAIT_S = 30.0
"""For a daemon that starts or stops."""


@command("up", "observer up")
@click.option("--explain", is_flag=True, help="Say what is recorded, where, and how to stop.")
def up_command(*, explain: bool) -> None:
    """Start the daemon, and return when it answers."""
    home_guard.bring_up(home())
    mention_paused()
    status = current(home(), wait_s=WAIT_S)
    if explain and not output.wants_json():
        from observer.cli.policy import explained  # noqa: PLC0415 - as below

        output.fields(explained(home()))
        return
    where = f"observer {status.version} is up (pid {status.pid}), home {status.home}"
    remark = f"degraded: {status.degraded}" if status.degraded else ""
    output.respond(status, where, remark=remark)


@command("down", "observer down")
def down_command() -> None:
    """Stop the daemon once it has stored what waits."""
    stopped = client.stop(home(), wait_s=WAIT_S)
    home_guard.end(home())
    text = "observer is down" if stopped else "observer was not running"
    output.respond({"stopped": stopped}, text)


@command("status", "observer status --space")
@click.option("--space", is_flag=True, help="What takes the space, and what retention would free.")
@click.option("--projects", is_flag=True, help="The projects that have memories.")
def status_command(*, space: bool, projects: bool) -> None:
    """Show whether the daemon runs, and what is recorded here."""
    if space:
        from observer.cli.space import show_space  # noqa: PLC0415 - half a second, for this alone

        show_space(home())
        return
    if projects:
        show_projects()
        return
    from observer.cli.policy import described, here  # noqa: PLC0415 - `up` needs none of it

    status, found = current(home()), here(home())
    if output.as_json(msgspec.to_builtins(status) | {"here": found}):
        return
    output.fields([*status_rows(status), *(described(found) if found else ())])
