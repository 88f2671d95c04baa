"""`observer install CLIENT` and `uninstall`: our hooks and MCP server in the files of clients."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from observer.cli import completion, output
from observer.cli.commands import Given, command
from observer.cli.session import mention_paused
from observer.clients import installers
from observer.clients.config_files.context import InstallContext, current_context, diff
from observer.clients.installers import Setup
from observer.clients.quiet import last_report, last_reports
from observer.clients.registry import clients
from observer.core.clock import now_ms
from observer.core.errors import BadInput, ConfigInvalid, ObserverError
from observer.core.model import iso
from observer.core.moment import minute_of
from observer.core.paths import Home, home
from observer.core.text import counted, listed
from observer.local import client
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool
from observer.tools.status import current
from observer.upkeep import home_guard

if TYPE_CHECKING:
    from observer.memory.values import Diagnosis

Words = tuple[str, ...]

targets_argument = click.argument(
    "targets",
    nargs=-1,
    type=click.Choice((*installers.installable(), *installers.SERVICES)),
    metavar="[CLIENT]...",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the changes, make none.")
project_option = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Only for this repository, in its own files.",
)


@command("install", "observer install claude-code git bash --dry-run")
@targets_argument
@click.option("--list", "lists", is_flag=True, help="List the clients, and change nothing.")
@project_option
@completion.option(
    *("--tools", completion.toolsets),
    "Toolsets that the clients are offered; left out, those that they have, or core.",
    metavar="NAME[,NAME]",
)
@click.option("--ctrl-r/--no-ctrl-r", default=None, help="Bind Ctrl-R in shells, or no longer.")
@dry_run_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask before changing what was found.")
def install_command(
    *, targets: Words, lists: bool, tools: str, ctrl_r: bool | None, yes: bool, **options: Given
) -> int:
    """Make clients report: those named, or all that are found."""
    if tools:
        from observer.tools.registry import chosen  # noqa: PLC0415 - all that tools need

        tools = ",".join(chosen(tools))
    known = clients()
    if targets and ctrl_r and not any(one in known and known[one].binds_ctrl_r for one in targets):
        raise BadInput("Ctrl-R is bound in shells", hint="name bash, zsh or fish")
    context = current_context(home(), project=options.pop("project"), tools=tools)
    context = replace(context, ctrl_r=ctrl_r)
    code = 0
    if lists:
        show_list(context)
    elif targets:
        _perform_all([(target, context) for target in targets], **options)
    else:
        code = install_found(context, yes=yes, **options)
    mention_paused()
    return code


@command("uninstall", "observer uninstall cursor")
@targets_argument
@click.option("--all", "is_all", is_flag=True, help="Take out everything, and record nothing.")
@click.option("--memory", is_flag=True, help="With --all, the memory too; nothing brings it back.")
@project_option
@dry_run_option
@click.option("--yes", "-y", is_flag=True, help="With --all, do not ask.")
def uninstall_command(
    *, targets: Words, is_all: bool, project: Path | None, memory: bool, yes: bool, dry_run: bool
) -> None:
    """Take out what install put in; without names, list it."""
    context = replace(current_context(home(), project=project), is_wanted=False)
    if is_all and (targets or project):
        raise BadInput("--all is every client", hint="leave out the names, or --all")
    if memory and not is_all:
        raise BadInput("the memory goes with all of observer", hint="add --all, or leave --memory")
    if targets:
        others = ("git",) if "git" in targets and not project else ()
        found = installers.everything(context, _roots(context.home), others) if others else []
        more = [(one.client, one.context) for one in found if one.context.project]
        _perform_all([*((one, context) for one in targets), *more], dry_run=dry_run)
        if others:
            output.note(
                "the daemon still reads commits of repositories that the memory knows;"
                " not with: observer pause, or with never = ['commit'] in their .observer.toml"
            )
        return
    found = installers.everything(context, _roots(context.home))
    if not is_all or dry_run:
        _list_installed(found, dry_run=dry_run)
        if memory and not output.wants_json():
            output.say(f"the memory would be deleted: {_held(context.home)}")
        output.note(
            "take some out: observer uninstall CLIENT..., or everything: observer uninstall --all"
        )
        return
    _leave(context.home, found, memory=memory, yes=yes)


def _roots(here: Home) -> set[str]:
    from observer.importers.run import known_roots  # noqa: PLC0415 - to take out only

    with suppress(ObserverError):  # a damaged memory keeps nobody from leaving
        return known_roots(here)
    return set()


def _list_installed(found: list[installers.Installed], *, dry_run: bool) -> None:
    rows = [(one.client, str(path)) for one in found for path in one.paths]
    if output.as_json([{"client": client, "path": path} for client, path in rows]):
        return
    if dry_run:
        output.say("".join(diff(one.plan.edits) for one in found), is_exact=True)
    if rows:
        output.table(("client", "where"), rows)
    output.say(f"{'' if rows else 'nothing is installed; '}the memory is in {home().root}")


def _leave(here: Home, found: list[installers.Installed], *, memory: bool, yes: bool) -> None:
    output.refuse_agents("an agent does not take observer out")
    if not output.wants_json():
        _list_installed(found, dry_run=False)
    held = _held(here)
    also = f"delete the memory, {held}, for good" if memory else "record nothing from now on"
    asked = f"Take all of this out, and {also}?"
    output.confirm_once(asked, yes=yes, refusal="nothing was taken out", hint="add --yes")
    outcomes = [_one(each.client, each.context, dry_run=False) for each in found]
    # A hook in a repository does nothing without these; the pause is for a daemon of a reader.
    shutil.rmtree(here.hooks, ignore_errors=True)
    at_ms = now_ms()
    Spool(here.spool).pauses.begin([EVERYWHERE], from_ms=at_ms, until_ms=UNENDING_MS)
    client.stop(here)
    home_guard.end(here)
    if not output.wants_json():
        for outcome in outcomes:
            output.say(_described(outcome, dry_run=False))
    if not (memory or yes):
        memory = click.confirm(f"Delete the memory too, {held}? Nothing brings it back.")
    kept = home_guard.delete(here, progress=output.progress) if memory else [here.root]
    left = [str(one) for one in kept]
    if output.as_json({"taken_out": outcomes, "left": left}):
        return
    output.say(f"nothing is recorded any more; left: {listed(left) or 'nothing'}")
    if memory:
        output.say(f"deleted the memory, {held}")
    else:
        output.note("record again: observer install, observer pause --end")
        output.note("delete the memory: observer uninstall --all --memory --yes")


def _held(here: Home) -> str:
    return f"{here.root} with {counted(current(here).events, 'event')}"


def _perform_all(targets: list[tuple[str, InstallContext]], *, dry_run: bool) -> None:
    # All are planned before the first is performed: a file that does not parse stops them all.
    for target, context in targets:
        installers.install(target, context)
    outcomes = [_one(target, context, dry_run=dry_run) for target, context in targets]
    for outcome in () if output.as_json(outcomes) else outcomes:
        output.say(_described(outcome, dry_run=dry_run), is_exact=True)


def _one(target: str, context: InstallContext, *, dry_run: bool) -> dict[str, Any]:
    plan = installers.install(target, context)
    changes = [str(edit.path) for edit in plan.edits if edit.is_change]
    shown = diff(plan.edits)
    backups = [] if dry_run else installers.perform(plan, context.home, at_ms=now_ms())
    return {
        "client": target,
        "changed": changes,
        "backups": [str(path) for path in backups],
        "notes": list(plan.notes),
        "diff": shown,
    }


def _described(outcome: dict[str, Any], *, dry_run: bool) -> str:
    if dry_run:
        return str(outcome["diff"]).rstrip("\n") or f"{outcome['client']}: nothing to change"
    lines = [f"{outcome['client']}: " + ("done" if outcome["changed"] else "nothing to change")]
    lines += [
        f"  {'wrote' if Path(path).exists() else 'removed'} {path}" for path in outcome["changed"]
    ]
    if backups := [Path(path) for path in outcome["backups"]]:
        texts = f"the former {'texts' if len(backups) > 1 else 'text'}"
        lines.append(f"  kept {texts} in {backups[0].parent}")
    lines += [f"  {text}" for text in outcome["notes"]]
    return "\n".join(lines)


def install_found(context: InstallContext, *, yes: bool, dry_run: bool) -> int:
    """Install all clients that are found, once their plan was shown and agreed to.

    A probe is sent through what was installed. Returns 1 if it failed, or if a file of a client
    could not be used. Raises BadInput: there is nobody to ask; click.Abort: the answer was no.
    """
    found, here = installers.setups(context), context.home
    if not output.wants_json():
        _show(found, context)
    changing = [one for one in found if one.plan.is_change]
    if not dry_run and changing:
        asked = f"Make these changes for {counted(len(changing), 'client')}?"
        output.confirm_once(asked, yes=yes, refusal="nothing was installed")
        for place, one in enumerate(found):
            try:
                # A plan is made anew, since another's may have changed the same file.
                if one.plan.is_change:
                    installers.perform(
                        installers.install(one.client.name, context), here, at_ms=now_ms()
                    )
            except ObserverError as error:
                found[place] = one._replace(problem=error)
    planned = {one.client.name for one in changing}
    done = [one for one in found if one.client.name in planned and not one.problem]
    probes: list[Diagnosis] = []
    if done and not dry_run:
        from observer.cli.doctor.probes import probe_checks  # noqa: PLC0415 - 0.5 s, for this alone

        probes = list(probe_checks(context, [one.client.name for one in done]))
    rows = [_outcome(one, dry_run=dry_run) for one in found]
    if not output.as_json({"clients": rows, "probes": probes}) and not dry_run:
        _report(found, done, probes)
    is_well = all(probe.is_well for probe in probes)
    failed = [one for one in found if isinstance(one.problem, ConfigInvalid)]
    return 0 if is_well and not failed else 1


def _show(found: list[Setup], context: InstallContext) -> None:
    edits = {edit.path: edit for one in found for edit in one.plan.edits}
    ours = [edit for edit in edits.values() if edit.is_ours]
    if shown := diff(edit for edit in edits.values() if not edit.is_ours):
        output.say(shown, is_exact=True)
    if ours:
        output.say(f"{counted(len(ours), 'script')} of observer's go into {context.home.hooks}\n")
    rows = []
    for one in found:
        paths = [_short(path, context) for path in _changed(one)]
        changes = f"left as it is: {one.problem}" if one.problem else ", ".join(paths)
        rows.append((one.client.name, _short(one.found, context), changes or "nothing to change"))
    output.table(("client", "found", "changes"), rows)
    names = {one.client.name for one in found}
    absent = [name for name, client in clients().items() if client.installer and name not in names]
    if absent and not context.project:
        output.note(f"not found: {', '.join(absent)}")


def _changed(one: Setup) -> list[str]:
    return [str(edit.path) for edit in one.plan.edits if edit.is_change and not edit.is_ours]


def _short(path: str, context: InstallContext) -> str:
    home = f"{context.user_home}/"
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path


def _report(found: list[Setup], done: list[Setup], probes: list[Diagnosis]) -> None:
    for one in found:
        if one.problem:
            output.note(f"{one.client.name} was not installed: {one.problem}")
    if not done:
        output.say("\nNothing was changed.")
        return
    output.say("\nTried out:")
    for probe in probes:
        hint = f" ({probe.hint})" if probe.hint else ""
        output.say(f"  {probe.name:<18} {'' if probe.is_well else 'WRONG: '}{probe.found}{hint}")
    output.say("\nTo do:")
    for one in done:
        for text in one.plan.notes:
            output.say(f"  {one.client.name:<18} {text}")
    output.say(f"\nUndo with: observer uninstall {' '.join(one.client.name for one in done)}")
    output.say("Read earlier sessions with: observer import")


def _outcome(one: Setup, *, dry_run: bool) -> dict[str, Any]:
    return {
        "client": one.client.name,
        "found": one.found,
        "changed": _changed(one),
        "notes": list(one.plan.notes),
        "problem": str(one.problem or ""),
        **({"diff": diff(one.plan.edits)} if dry_run else {}),
    }


def show_list(context: InstallContext) -> None:
    """Print every client that can be installed, what it has, and when it last reported."""
    last, rows = last_reports(context.home), []
    for each in (one for one in clients().values() if one.installer):
        offers = {
            "hooks": each.sample or each.context_file or not each.is_agent,
            "MCP": each.is_agent,
            "Ctrl-R": each.binds_ctrl_r,
        }
        heard_ms = last_report(each, last)
        row: dict[str, Any] = {
            "client": each.name,
            "found": installers.evidence(each, context),
            "offers": [name for name, has in offers.items() if has],
            "installed": installers.installed_parts(each.name, context),
            "tried": each.tried,
            "last_at": iso(heard_ms) if heard_ms else None,
        }
        rows.append(row)
    shown = (
        (
            *(row["client"], _short(row["found"], context) or "-", " + ".join(row["offers"])),
            *(" + ".join(row["installed"]) or "-", row["tried"] or "unverified"),
            minute_of(row["last_at"]) if row["last_at"] else "-",
        )
        for row in rows
    )
    columns = ("client", "found", "offers", "installed", "tried", "last heard")
    output.table(columns, shown, spare=("tried", "offers", "found"), value=rows)
