"""`observer install CLIENT` and `uninstall`: our hooks and MCP server in the files of clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from observer.cli import setup
from observer.cli.output import F, emit, json_option, say
from observer.clients.installers import install, installable, perform, uninstall
from observer.clients.services import SERVICES
from observer.config_files.context import InstallContext, InstallPlan, current_context
from observer.config_files.file_edits import diff
from observer.core.clock import now_ms
from observer.core.paths import home

Planner = Callable[[str, InstallContext], InstallPlan]


def targets_argument(*, required: bool) -> Callable[[F], F]:
    """Return the argument with the names of clients."""
    choice = click.Choice((*installable(), *SERVICES))
    metavar = "CLIENT..." if required else "[CLIENT]..."
    return click.argument("targets", nargs=-1, required=required, type=choice, metavar=metavar)


dry_run_option = click.option("--dry-run", is_flag=True, help="Show the changes, make none.")
project_option = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Only for this repository, in its own files.",
)


def _toolsets(_context: click.Context, _option: click.Parameter, names: str | None) -> str:
    if not names:
        return ""
    from observer.toolsets.registry import chosen  # noqa: PLC0415 - all that tools need

    return ",".join(chosen(names))


tools_option = click.option(
    "--tools",
    metavar="NAME[,NAME]",
    callback=_toolsets,
    help="Toolsets that the clients are offered; left out, those that they have, or core.",
)


@click.command("install", epilog="Example: observer install claude-code git bash --dry-run")
@targets_argument(required=False)
@click.option("--list", "lists", is_flag=True, help="List the clients, and change nothing.")
@project_option
@tools_option
@dry_run_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask before changing what was found.")
@json_option
def install_command(
    *,
    targets: tuple[str, ...],
    lists: bool,
    yes: bool,
    **options: Any,  # noqa: ANN401 - the options above
) -> int:
    """Make clients report: those named, or all that are found."""
    context = current_context(home(), project=options.pop("project"), tools=options.pop("tools"))
    if lists:
        setup.show_list(context, as_json=options["as_json"])
        return 0
    if not targets:
        return setup.install_found(context, yes=yes, **options)
    _perform_all(install, targets=targets, context=context, **options)
    return 0


@click.command("uninstall", epilog="Example: observer uninstall cursor")
@targets_argument(required=True)
@project_option
@dry_run_option
@json_option
def uninstall_command(
    *,
    project: Path | None,
    **options: Any,  # noqa: ANN401 - the options above
) -> None:
    """Take out of clients exactly what install put in."""
    _perform_all(uninstall, context=current_context(home(), project=project), **options)


def _perform_all(
    planner: Planner,
    *,
    targets: tuple[str, ...],
    context: InstallContext,
    dry_run: bool,
    as_json: bool,
) -> None:
    # All are planned before the first is performed: a file that does not parse stops them all.
    for target in targets:
        planner(target, context)
    outcomes = [_one(target, planner, context, dry_run=dry_run) for target in targets]
    if as_json:
        emit(outcomes)
        return
    for outcome in outcomes:
        say(_described(outcome, dry_run=dry_run), is_exact=True)


def _one(
    target: str, planner: Planner, context: InstallContext, *, dry_run: bool
) -> dict[str, Any]:
    plan = planner(target, context)
    changes = [str(edit.path) for edit in plan.edits if edit.is_change]
    shown = diff(plan.edits)
    backups = [] if dry_run else perform(plan, context.home, at_ms=now_ms())
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
    lines += [f"  kept the former text in {path}" for path in outcome["backups"]]
    lines += [f"  {note}" for note in outcome["notes"]]
    return "\n".join(lines)
