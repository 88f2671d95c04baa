"""Zed: its MCP configuration. It has no hooks; agents that it runs have their own."""

from observer.clients.client import Client

CLIENT = Client(
    name="zed",
    decoder="observer.clients.generic:read",
    installer="observer.clients.zed.install:INSTALLER",
    programs=("zed", "zeditor"),
    folders=(".config/zed",),
)
