"""The memory on a terminal's whole screen: timeline, search, items, sessions, near pairs."""
