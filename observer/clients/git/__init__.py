"""git: what its hooks report, and how they are installed."""

from observer.clients.client import Client

CLIENT = Client(
    name="git",
    decoder="observer.clients.git.decode:read",
    takes_json=False,
    installer="observer.clients.git.install",
    per_project=True,
    programs=("git",),
    tried="2.39.5",
    is_agent=False,
)
