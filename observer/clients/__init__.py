"""Clients: what the hooks of editors, agents, git and shells report, and how to install them."""
