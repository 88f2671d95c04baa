"""`observer install` without a client: what is on the machine, its plan as one diff, one question.

`--list` shows every client, what is installed of it, and when it last reported something.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from observer.cli.output import emit, note, say, table
from observer.clients.client import Client
from observer.clients.detection import evidence
from observer.clients.installers import install, installed_parts, perform
from observer.clients.quiet import last_report, last_reports
from observer.clients.registry import clients
from observer.clients.setup import Setup, setups
from observer.config_files.context import InstallContext
from observer.config_files.file_edits import FileEdit, diff
from observer.core.clock import now_ms
from observer.core.errors import BadInput, ConfigInvalid, ObserverError
from observer.core.model import iso
from observer.core.text import counted
from observer.core.value import Value
from observer.doctor.diagnosis import Diagnosis
from observer.views.moment import minute_of


class Listed(Value):
    """One client as `--list` shows it.

    `found` is the path that shows that it is on the machine; `offers` what an installation makes
    of it, `installed` what is there of that; `last_at` when it last reported something.
    """

    client: str
    found: str
    offers: tuple[str, ...]
    installed: tuple[str, ...]
    tried: str
    last_at: str | None


def install_found(context: InstallContext, *, yes: bool, dry_run: bool, as_json: bool) -> int:
    """Install all clients that are found, once their plan was shown and agreed to.

    A probe is sent through what was installed. Returns 1 if it failed, or if a file of a client
    could not be used.

    Raises:
        BadInput: there is nobody to ask.
        click.Abort: the answer was no.
    """
    if not (dry_run or yes or (sys.stdin.isatty() and not as_json)):
        raise BadInput(
            "nothing was installed: there is no terminal to ask on",
            hint="add --yes, or --dry-run to look only",
        )
    found = setups(context)
    if not as_json:
        _show(found, context)
    changing = [one for one in found if one.plan.is_change]
    if not dry_run and changing:
        if not yes:
            names = counted(len(changing), "client")
            click.confirm(f"Make these changes for {names}?", abort=True)
        found = [_performed(one, context) if one.plan.is_change else one for one in found]
    planned = {one.client.name for one in changing}
    done = [one for one in found if one.client.name in planned and not one.problem]
    probes = [] if dry_run or not done else _probed(done, context)
    if as_json:
        emit({"clients": [_outcome(one, dry_run=dry_run) for one in found], "probes": probes})
    elif not dry_run:
        _report(found, done, probes)
    is_well = all(probe.is_well for probe in probes)
    failed = [one for one in found if isinstance(one.problem, ConfigInvalid)]
    return 0 if is_well and not failed else 1


def _show(found: list[Setup], context: InstallContext) -> None:
    edits = {edit.path: edit for one in found for edit in one.plan.edits}
    ours = [edit for edit in edits.values() if edit.is_ours]
    if shown := diff(edit for edit in edits.values() if not edit.is_ours):
        say(shown, is_exact=True)
    if ours:
        say(f"{counted(len(ours), 'script')} of observer's go into {context.home.hooks}\n")
    table(
        ("client", "found", "changes"),
        [(one.client.name, _short(one.found, context), _changes(one, context)) for one in found],
    )
    names = {one.client.name for one in found}
    absent = [name for name, client in clients().items() if client.installer and name not in names]
    if absent and not context.project:
        note(f"not found: {', '.join(absent)}")


def _changes(one: Setup, context: InstallContext) -> str:
    if one.problem:
        return f"left as it is: {one.problem}"
    paths = _changed(one.plan.edits)
    return ", ".join(_short(str(path), context) for path in paths) or "nothing to change"


def _changed(edits: Iterable[FileEdit]) -> list[Path]:
    return [edit.path for edit in edits if edit.is_change and not edit.is_ours]


def _short(path: str, context: InstallContext) -> str:
    home = f"{context.user_home}/"
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path


def _performed(one: Setup, context: InstallContext) -> Setup:
    """Install a client; its plan is made anew, since another's may have changed the same file."""
    try:
        plan = install(one.client.name, context)
        perform(plan, context.home, at_ms=now_ms())
    except ObserverError as error:
        return one._replace(problem=error)
    return one


def _probed(done: list[Setup], context: InstallContext) -> list[Diagnosis]:
    from observer.doctor.probes import probe_checks  # noqa: PLC0415 - 0.5 s, to try hooks only

    return list(probe_checks(context, [one.client.name for one in done]))


def _report(found: list[Setup], done: list[Setup], probes: list[Diagnosis]) -> None:
    for one in found:
        if one.problem:
            note(f"{one.client.name} was not installed: {one.problem}")
    if not done:
        say("\nNothing was changed.")
        return
    say("\nTried out:")
    for probe in probes:
        hint = f" ({probe.hint})" if probe.hint else ""
        say(f"  {probe.name:<18} {'' if probe.is_well else 'WRONG: '}{probe.found}{hint}")
    say("\nTo do:")
    for one in done:
        for text in one.plan.notes:
            say(f"  {one.client.name:<18} {text}")
    say(f"\nUndo with: observer uninstall {' '.join(one.client.name for one in done)}")
    say("Read earlier sessions with: observer import")


def _outcome(one: Setup, *, dry_run: bool) -> dict[str, Any]:
    return {
        "client": one.client.name,
        "found": one.found,
        "changed": [str(path) for path in _changed(one.plan.edits)],
        "notes": list(one.plan.notes),
        "problem": str(one.problem or ""),
        **({"diff": diff(one.plan.edits)} if dry_run else {}),
    }


# --- the list ------------------------------------------------------------------------------------


def show_list(context: InstallContext, *, as_json: bool) -> None:
    """Print every client that can be installed."""
    last = last_reports(context.home)
    rows = [_listed(client, context, last) for client in clients().values() if client.installer]
    if as_json:
        emit(rows)
        return
    table(
        ("client", "found", "offers", "installed", "tried", "newest stored"),
        [
            (
                row.client,
                _short(row.found, context) or "-",
                " + ".join(row.offers),
                " + ".join(row.installed) or "-",
                row.tried or "unverified",
                minute_of(row.last_at) if row.last_at else "-",
            )
            for row in rows
        ],
        spare=("tried", "offers", "found"),
    )


def _listed(client: Client, context: InstallContext, last: Mapping[str, int]) -> Listed:
    has_hooks = client.sample or client.context_file or not client.is_agent
    offers = (*(("hooks",) if has_hooks else ()), *(("MCP",) if client.is_agent else ()))
    heard_ms = last_report(client, last)
    return Listed(
        client=client.name,
        found=evidence(client, context),
        offers=offers,
        installed=installed_parts(client.name, context),
        tried=client.tried,
        last_at=iso(heard_ms) if heard_ms else None,
    )
