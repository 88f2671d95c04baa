"""bash, zsh and fish: what their recorders report, and how they are installed."""

from observer.clients.client import Client

CLIENTS = tuple(
    Client(
        name=shell,
        decoder="observer.clients.shells.decode:read",
        takes_json=False,
        # Every machine has several; what shows that one is used is its start-up file.
        folders=(start_up,),
        tried=tried,
        installer=f"observer.clients.shells.install:{shell.upper()}",
        is_agent=False,
    )
    for shell, start_up, tried in (
        ("bash", ".bashrc", "5.2.15"),
        ("zsh", ".zshrc", "5.9"),
        ("fish", ".config/fish", "3.6.0"),
    )
)
