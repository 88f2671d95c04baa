"""What `doctor --fix` does: only what can be repeated, loses nothing and is ours to do."""

from __future__ import annotations

import shutil

from observer import client
from observer.clients.installers import install, perform
from observer.config_files.context import InstallContext, hook_files
from observer.config_files.file_edits import apply
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.text import counted
from observer.doctor.home_files import open_to_others
from observer.spool.spool import Spool

START_S = 20.0


def apply_fix(fix: str, context: InstallContext) -> str:
    """Apply a fix that a `Diagnosis` names, and return what was done, or why it was not."""
    name, _, argument = fix.partition(" ")
    try:
        if name == "install":
            return _install(argument, context)
        return _FIXES[name](context)
    except (ObserverError, OSError) as error:
        return f"not done: {fix}: {error}"


def _install(name: str, context: InstallContext) -> str:
    copies = perform(install(name, context), context.home, at_ms=now_ms())
    kept = f"; the former text is in {', '.join(map(str, copies))}" if copies else ""
    return f"installed {name} again{kept}"


def _private(context: InstallContext) -> str:
    found = open_to_others(context.home)
    for path in found:
        path.chmod(path.stat().st_mode & 0o700)
    return f"took the rights of others from {', '.join(map(str, found))}"


def _hooks(context: InstallContext) -> str:
    edits = hook_files(context.home)
    apply(edits, context.home.backups, at_ms=now_ms())
    return f"refreshed {counted(len(edits), 'hook script')}"


def _daemon(context: InstallContext) -> str:
    client.ensure_daemon(context.home, wait_s=START_S)
    return "started the daemon of this version"


def _retry(context: InstallContext) -> str:
    events = Spool(context.home.spool).retry()
    return f"put {counted(events, 'event')} back into the queue, to be read again"


def _index(context: InstallContext) -> str:
    client.stop(context.home)
    shutil.rmtree(context.home.index)
    client.ensure_daemon(context.home, wait_s=START_S)
    return "had the index made anew"


_FIXES = {
    "private": _private, "hooks": _hooks, "daemon": _daemon, "index": _index, "retry": _retry
}  # fmt: skip
