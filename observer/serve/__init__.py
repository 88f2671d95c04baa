"""The daemon, and what it answers over MCP and HTTP."""
