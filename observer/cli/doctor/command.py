"""`observer doctor`: checks everything that can be wrong, and says what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import click
from msgspec.structs import replace

from observer.cli import output
from observer.cli.commands import listing
from observer.cli.doctor.diagnosis import (
    RESTARTING,
    apply_fix,
    client_checks,
    home_checks,
    store_checks,
)
from observer.cli.doctor.probes import probe_checks
from observer.cli.exclusive import alone, open_here, repair_first
from observer.cli.purge import redacted
from observer.cli.session import mention_damaged, mention_paused, reading
from observer.clients.config_files.context import current_context
from observer.core import config
from observer.core.clock import now_ms
from observer.core.paths import Home, home
from observer.core.text import counted
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.values import Diagnosis
from observer.projects import PlaceCache
from observer.tools.status import current
from observer.upkeep.carry_out import complete
from observer.upkeep.redact import secrets_in


@listing("doctor", "observer doctor --fix", later={"speed": "doctor.speed"})
@click.option("--fix", "fixes", is_flag=True, help="Do what is safe to do, and say what was done.")
@click.option("--rebuild", "rebuilds", is_flag=True, help="Derive all from the log anew instead.")
@click.option("--quick", is_flag=True, help="Only look: send no probe through the hooks.")
def doctor_command(*, fixes: bool, rebuilds: bool, quick: bool) -> int:
    """Check home, daemon, store and hooks; exit with 1 if any fails."""
    here = home()
    mention_paused()
    if rebuilds:
        _rebuild(here)
        return 0
    checks = list(_checks(here, quick=quick))
    done: list[str] = []
    wanted = dict.fromkeys(check.fix for check in checks if check.fix and not check.is_well)
    if fixes and wanted:
        done = [apply_fix(fix, current_context(here)) for fix in wanted]
        checks = list(_checks(here, quick=quick))
    is_well = all(check.is_well for check in checks)
    if output.as_json({"is_well": is_well, "checks": checks, "fixed": done}):
        return 0 if is_well else 1
    for text in done:
        output.say(f"fixed: {text}")
    rows = []
    for each in checks:
        found = "; ".join(filter(None, (each.found, each.hint)))
        rows.append(("ok" if each.is_well else "WRONG", each.name, found))
    output.table(("", "check", "found, and what to do"), rows)
    if wanted and not fixes:
        output.say("observer doctor --fix does what is safe of this")
    return 0 if is_well else 1


class HomeDoctor:
    """What `observer doctor` does, for the page of the daemon."""

    def look(self) -> list[Diagnosis]:
        """Return all checks but probes; what only mends without the daemon is named in the hint."""
        found = _checks(home(), quick=True)
        return [
            replace(one, fix="", hint=f"{one.hint}; mend it with: observer doctor --fix")
            if one.fix in RESTARTING
            else one
            for one in found
        ]

    def mend(self, fix: str) -> str:
        """Return what was done, or why it was not."""
        return apply_fix(fix, current_context(home()))


def _checks(here: Home, *, quick: bool) -> Iterator[Diagnosis]:
    context = current_context(here)
    status = current(here)
    yield from home_checks(here, status)
    yield from store_checks(here, status)
    yield from client_checks(context)
    if not quick:
        yield from probe_checks(context)


def _rebuild(here: Home) -> None:
    """Derive everything anew, once what earlier rules let through is redacted."""
    repair_first(here)
    with alone(here):
        # Secrets that earlier redaction rules missed must not be derived again.
        complete(here, open_here)
        with reading(here) as reader:
            has_secrets = bool(secrets_in(reader))
        receipt = redacted(here) if has_secrets else None
        with closing(open_here(here.database, here.backups)) as store:
            spool, settings = Spool(here.spool), config.load(here)
            pipeline = Pipeline(store, spool, settings=settings, places=PlaceCache(), now_ms=now_ms)
            with store.read() as reader:
                total = reader.totals().events
            with output.progress("rebuilding", total) as advance:
                events = pipeline.rebuild(advance=advance)
            mention_damaged(total - events)
    count = receipt.redacted_events if receipt else 0
    first = f"\n{counted(count, 'event')} redacted first, by newer rules" if receipt else ""
    output.respond(
        {"events": events, "redacted": count}, f"rebuilt from {counted(events, 'event')}{first}"
    )
