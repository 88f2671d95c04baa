"""The MCP server: tools, resources and a prompt, over Unix-socket lines and streamable HTTP."""
