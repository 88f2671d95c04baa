"""`observer daemon`, which programs start: losers of a race import little and end at the lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pkgutil import resolve_name

import click

from observer.cli.output import note
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home, home
from observer.upkeep.home_guard import ANEW, take


@click.command("daemon", hidden=True, epilog="Example: observer daemon")
def daemon_command() -> int:
    """Run the daemon in the foreground until it is stopped; exit silently if there is one."""
    os.umask(0o077)
    if take(home()) is None:
        return 0
    from observer.clients import installers  # noqa: PLC0415 - losers of a race leave before
    from observer.clients.config_files.context import InstallPlan, hook_files  # noqa: PLC0415 - as above

    try:  # clients' files and plugins name the hooks, whoever came first
        plan = InstallPlan(edits=tuple(hook_files(home())))
        installers.perform(plan, home(), at_ms=now_ms())
    except ObserverError as error:
        note(f"hooks were not refreshed: {error}")
    # By name: losers of a race leave before, and the command line knows nothing of the daemon.
    run: Callable[[Home, object], int] = resolve_name("observer.serve.daemon:run")
    pages: Callable[..., object] = resolve_name("observer.web.site:HomePages")
    doctor = "observer.cli.doctor.command:HomeDoctor"
    code = run(home(), pages(home(), lambda: resolve_name(doctor)()))  # noqa: PLW0108 - when somebody asks
    if code == ANEW or (code and home().damage.exists()):
        # Damage is repaired, and a purge that a page asked for carried out, at a start.
        os.execv(sys.executable, [sys.executable, "-P", "-m", "observer", "daemon"])  # noqa: S606 - ourselves
    return code
