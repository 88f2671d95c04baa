"""The stdio side of MCP: copies lines between an editor and the daemon."""
