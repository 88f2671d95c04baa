"""bash, zsh and fish: what their recorders report, and how they are installed."""

from observer.clients.client import Client

CLIENTS = tuple(
    Client(
        name=shell,
        decoder="observer.clients.shells.decode:read",
        takes_json=False,
        installer=f"observer.clients.shells.install:{shell.upper()}",
        is_agent=False,
    )
    for shell in ("bash", "zsh", "fish")
)
