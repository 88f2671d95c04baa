"""git as a client: what its hooks report, and how they are installed."""
