"""Shares: what one home lets others know, carried by PostgreSQL, a folder or a git remote."""
