"""The clients that observer knows: one row each, and those of other packages.

Another package adds a client through the entry point group `observer.clients`: the name of the
entry is the client's and that of its `Client`, which is its object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from observer.clients import (
    antigravity,
    claude_code,
    cline,
    codex,
    continue_dev,
    copilot,
    cursor,
    devin,
    droid,
    gemini,
    git,
    kiro,
    opencode,
    pi,
    qwen,
    shells,
    vscode,
    zed,
)
from observer.clients.client import Client
from observer.core.plugins import with_plugins

GROUP = "observer.clients"
"""Group of the entry points by which other packages add clients."""

BUILT_IN: tuple[Client, ...] = (
    git.CLIENT,
    *shells.CLIENTS,
    claude_code.CLIENT,
    cursor.CLIENT,
    *kiro.CLIENTS,
    codex.CLIENT,
    gemini.CLIENT,
    qwen.CLIENT,
    droid.CLIENT,
    copilot.CLIENT,
    *opencode.CLIENTS,
    pi.CLIENT,
    cline.CLIENT,
    vscode.CLIENT,
    *devin.CLIENTS,
    antigravity.CLIENT,
    zed.CLIENT,
    continue_dev.CLIENT,
    Client("generic", "observer.clients.generic:read"),
)


@cache
def clients() -> Mapping[str, Client]:
    """Return all clients by name: ours, then those of other packages in the order of their names.

    The answer is that of the first call in this process. See `with_plugins` for what is left out.
    """
    return with_plugins(GROUP, Client, {client.name: client for client in BUILT_IN})
