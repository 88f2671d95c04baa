"""Antigravity: its MCP configuration. What its hooks are given is documented nowhere."""

from observer.clients.client import Client

CLIENT = Client(
    name="antigravity",
    decoder="observer.clients.generic:read",
    installer="observer.clients.antigravity.install:INSTALLER",
    programs=("agy", "antigravity"),
    folders=(".antigravity", ".gemini/antigravity"),
    marker_variables=("ANTIGRAVITY_AGENT",),
)
