"""The MCP server: tools, resources and prompts, over Unix-socket lines and streamable HTTP."""
