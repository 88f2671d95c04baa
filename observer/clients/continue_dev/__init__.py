"""Continue: its MCP configuration. It has no hooks."""

from observer.clients.client import Client

CLIENT = Client(
    name="continue",
    decoder="observer.clients.generic:read",
    installer="observer.clients.continue_dev.install",
    programs=("cn",),
    folders=(".continue",),
    tried="1.5.47",
)
