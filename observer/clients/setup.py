"""Plans the installation of every client that is on the machine, each on its own."""

from __future__ import annotations

from typing import NamedTuple

from observer.clients.client import Client
from observer.clients.detection import evidence
from observer.clients.installers import install
from observer.clients.registry import clients
from observer.config_files.context import InstallContext, InstallPlan
from observer.core.errors import ObserverError


class Setup(NamedTuple):
    """A client that was detected by the path `found`, and its plan or why there is none."""

    client: Client
    found: str
    plan: InstallPlan
    problem: ObserverError | None = None


def setups(context: InstallContext) -> list[Setup]:
    """Plan every client that was detected; a file that cannot be used stops its client only.

    With a project, only those are planned that keep settings in one.
    """
    return [
        _planned(client, found, context)
        for client in clients().values()
        if client.installer and (client.per_project or not context.project)
        if (found := evidence(client, context))
    ]


def _planned(client: Client, found: str, context: InstallContext) -> Setup:
    try:
        return Setup(client, found, install(client.name, context))
    except ObserverError as error:
        return Setup(client, found, InstallPlan(edits=()), error)
