"""The clients that observer knows: those of the modules of `shelf`, and those of other packages.

Another package adds a client through the entry point group `observer.clients`: the name of the
entry is the client's and that of its `Client`, which is its object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from observer.clients.client import Client
from observer.core.plugins import modules_of, with_plugins

GROUP = "observer.clients"
"""Group of the entry points by which other packages add clients."""

SHELF = "observer.clients.shelf"


@cache
def clients() -> Mapping[str, Client]:
    """Return all clients by name: ours in the order of their names, then those of other packages.

    The answer is that of the first call in this process. See `with_plugins` for what is left out.
    """
    found = (client for module in modules_of(SHELF) for client in module.CLIENTS)
    ours = {client.name: client for client in found}
    return with_plugins(GROUP, Client, dict(sorted(ours.items())))
