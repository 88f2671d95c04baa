"""bash, zsh and fish: what their recorders report, and how they are installed."""

from observer.clients.client import Client

CLIENTS = tuple(
    Client(
        name=shell,
        decoder="observer.clients.shells.decode:read",
        takes_json=False,
        # Every machine has several; what shows that one is used is its start-up file.
        folders=(start_up,),
        installer=f"observer.clients.shells.install:{shell.upper()}",
        is_agent=False,
    )
    for shell, start_up in (("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish"))
)
