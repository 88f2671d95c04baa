"""The mem0 toolset."""
