"""Toolsets: named sets of MCP tools, thin adapters over `observer.memory`."""
