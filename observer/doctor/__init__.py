"""Checks of a home, its machine and its clients, each with its remedy; probes through the hooks."""
