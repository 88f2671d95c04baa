"""Checks of the clients: our hooks, who has them, who reported when, and who went quiet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from observer.clients.client import Client
from observer.clients.installers import evidence, install, installed, installed_parts
from observer.clients.quiet import find_quiet, last_report, last_reports
from observer.clients.registry import clients
from observer.clients.shelf.git import missing_hooks
from observer.config_files.context import InstallContext, hook_files
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home
from observer.core.text import age_text
from observer.doctor.diagnosis import Diagnosis, checked, well, wrong
from observer.store.database import SqliteStore


def client_checks(context: InstallContext) -> Iterator[Diagnosis]:
    """Yield what is wrong with the hooks and each client that has them, or that nothing is."""
    yield checked("hooks", lambda: _hooks(context), fix="hooks")
    yield from _git_hooks(context)
    last: Mapping[str, int] = {}
    with suppress(ObserverError):  # another check reports a damaged database
        last = last_reports(context.home)
    absent = []
    for client in clients().values():
        if client.installer and (parts := installed_parts(client.name, context)):
            yield _client(client, context, parts=" + ".join(parts), last=last)
        elif client.installer and evidence(client, context):
            absent.append(client.name)
    if absent:
        found = f"{', '.join(absent)}: on this machine, and not installed"
        yield well("clients", found, "connect them with: observer install")


def _client(
    client: Client, context: InstallContext, *, parts: str, last: Mapping[str, int]
) -> Diagnosis:
    name = client.name
    again = f"bring it up to date with: observer install {name}"
    try:
        changes = [edit for edit in install(name, context).edits if not edit.is_ours]
    except ObserverError as error:
        return wrong(name, error.message, error.hint)
    if any(edit.is_change for edit in changes):
        return wrong(name, f"{parts}, not all of it", again, fix=f"install {name}")
    try:
        client.check_hooks(context)
    except ObserverError as error:
        return wrong(name, error.message, error.hint)
    if quiet := find_quiet(client, context, last, at_ms=now_ms()):
        return wrong(name, str(quiet), quiet.hint)
    at_ms = last_report(client, last)
    heard = f"last event {age_text(now_ms() - at_ms)} ago" if at_ms else "no event yet"
    return well(name, f"{parts}; {heard}")


def _hooks(context: InstallContext) -> str:
    here = context.home
    if not here.hooks.is_dir():
        if names := " ".join(installed(context)):
            raise ObserverError(
                f"{here.hooks} is gone, and nothing is recorded of {names}",
                hint=f"get them back with: observer install {names}",
            )
        return "none installed; see: observer install --help"
    stale = [edit.path.name for edit in hook_files(here) if edit.is_change]
    if stale:
        raise ObserverError(
            f"out of date: {' '.join(stale)}",
            hint="refresh them with: observer doctor --fix",
        )
    return str(here.hooks)


def _git_hooks(context: InstallContext) -> Iterator[Diagnosis]:
    name = "git hooks"
    try:
        found = missing_hooks(context, _git_folders(context.home))
    except ObserverError as error:
        yield Diagnosis(name, is_well=False, found=error.message, hint=error.hint)
        return
    for each in found:
        yield Diagnosis(name, is_well=False, found=each.found, hint=each.hint)
    if not found:
        yield Diagnosis(name, is_well=True, found="all that were installed run")


def _git_folders(here: Home) -> list[str]:
    with suppress(ObserverError):  # the next check reports a damaged database
        store = SqliteStore(here.database, read_only=True)
        try:
            with store.read() as reader:
                return [path for project in reader.projects() for path in project.common_dirs]
        finally:
            store.close()
    return []
