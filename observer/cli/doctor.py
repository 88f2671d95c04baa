"""`observer doctor`: checks everything that can be wrong, and says what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from observer.cli.commands import Group
from observer.cli.output import emit, json_option, say, table
from observer.cli.rebuild import rebuild
from observer.config_files.context import current_context
from observer.core.paths import Home, home
from observer.daemon.status import current
from observer.doctor.clients import client_checks
from observer.doctor.diagnosis import Diagnosis
from observer.doctor.fixes import apply_fix
from observer.doctor.home_files import home_checks
from observer.doctor.probes import probe_checks
from observer.doctor.stored import store_checks


@click.group(
    "doctor",
    cls=Group,
    later={"speed": "bench", "recall": "eval"},
    invoke_without_command=True,
    epilog="Example: observer doctor --fix",
)
@click.option("--fix", "fixes", is_flag=True, help="Do what is safe to do, and say what was done.")
@click.option("--rebuild", "rebuilds", is_flag=True, help="Derive all from the log anew instead.")
@click.option("--quick", is_flag=True, help="Only look: send no probe through the hooks.")
@json_option
@click.pass_context
def doctor_command(
    context: click.Context, /, *, fixes: bool, rebuilds: bool, quick: bool, as_json: bool
) -> int:
    """Check home, daemon, store and hooks; exit with 1 if any fails."""
    if context.invoked_subcommand is not None:
        return 0
    here = home()
    if rebuilds:
        rebuild(here, as_json=as_json)
        return 0
    checks = list(_checks(here, quick=quick))
    done: list[str] = []
    if fixes and (done := _fixed(here, checks)):
        checks = list(_checks(here, quick=quick))
    is_well = all(check.is_well for check in checks)
    if as_json:
        emit({"is_well": is_well, "checks": checks, "fixed": done})
        return 0 if is_well else 1
    for text in done:
        say(f"fixed: {text}")
    rows = [(_mark(check), check.name, check.found, check.hint) for check in checks]
    table(("", "check", "found", "what to do"), rows)
    if not fixes and any(check.fix for check in checks if not check.is_well):
        say("observer doctor --fix does what is safe of this")
    return 0 if is_well else 1


def _mark(check: Diagnosis) -> str:
    return "ok" if check.is_well else "WRONG"


def _checks(here: Home, *, quick: bool) -> Iterator[Diagnosis]:
    context = current_context(here)
    status = current(here)
    yield from home_checks(here, status)
    yield from store_checks(here, status)
    yield from client_checks(context)
    if not quick:
        yield from probe_checks(context)


def _fixed(here: Home, checks: list[Diagnosis]) -> list[str]:
    context = current_context(here)
    wanted = dict.fromkeys(check.fix for check in checks if check.fix and not check.is_well)
    return [apply_fix(fix, context) for fix in wanted]
