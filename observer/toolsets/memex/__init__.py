"""The memex toolset."""
