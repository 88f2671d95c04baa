"""The fronts that answer over a connection: MCP, HTTP, and the questions of the command line."""
