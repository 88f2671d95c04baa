"""`observer install` and `uninstall`: our hooks and MCP server in the files of clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from observer.cli.output import emit, json_option, say
from observer.clients.installers import install, installable, perform, uninstall
from observer.config_files.context import InstallContext, InstallPlan, current_context
from observer.config_files.file_edits import diff
from observer.config_files.json_entries import snippets
from observer.core.clock import now_ms
from observer.core.paths import home

Planner = Callable[[str, InstallContext], InstallPlan]

targets_argument = click.argument(
    "targets", nargs=-1, required=True, type=click.Choice(installable()), metavar="CLIENT..."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the changes, make none.")
project_option = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Only for this repository, in its own files.",
)


@click.command("install", epilog="Example: observer install claude-code git bash --dry-run")
@targets_argument
@project_option
@dry_run_option
@json_option
def install_command(**options: Any) -> None:  # noqa: ANN401 - the options above
    """Make clients report to observer: git, bash, zsh, fish, claude-code, cursor, kiro."""
    _perform_all(install, **options)


@click.command("uninstall", epilog="Example: observer uninstall cursor")
@targets_argument
@project_option
@dry_run_option
@json_option
def uninstall_command(**options: Any) -> None:  # noqa: ANN401 - the options above
    """Take out of clients exactly what install put in."""
    _perform_all(uninstall, **options)


@click.command("snippets", epilog="Example: observer snippets")
@json_option
def snippets_command(*, as_json: bool) -> None:
    """Print the MCP entry of each client, for those who register it by hand."""
    found = snippets(current_context(home()))
    if as_json:
        emit([one._asdict() for one in found])
        return
    for one in found:
        say(f"{one.client}: {one.instruction}\n  {one.text}")


def _perform_all(
    planner: Planner,
    *,
    targets: tuple[str, ...],
    project: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    context = current_context(home(), project=project)
    # All are planned before the first is performed: a file that does not parse stops them all.
    for target in targets:
        planner(target, context)
    outcomes = [_one(target, planner, context, dry_run=dry_run) for target in targets]
    if as_json:
        emit(outcomes)
        return
    for outcome in outcomes:
        say(_described(outcome, dry_run=dry_run))


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
