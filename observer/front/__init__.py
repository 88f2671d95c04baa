"""The faces of the memory: MCP tools, HTTP, context files, and text for people and models."""
