"""Detects which clients are on the machine: their commands in `PATH`, their files in the home."""

from __future__ import annotations

import shutil
from pathlib import PurePath

from observer.clients.client import Client
from observer.config_files.context import InstallContext
from observer.git.launch import absolute_entries


def evidence(client: Client, context: InstallContext) -> str:
    """Return the path that shows that a client is on the machine; "" if nothing does.

    A command counts in absolute entries of `PATH` only. The user's shell (`SHELL`) counts too.
    """
    entries = absolute_entries(context.environ.get("PATH", ""))
    for program in client.programs:
        if found := shutil.which(program, path=entries):
            return found
    for folder in client.folders:
        if (context.user_home / folder).exists():
            return str(context.user_home / folder)
    shell = context.environ.get("SHELL", "")
    return shell if PurePath(shell).name == client.name else ""
