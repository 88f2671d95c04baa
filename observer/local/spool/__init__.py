"""The durable queue between hooks and the daemon."""
