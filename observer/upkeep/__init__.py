"""What keeps a home small, whole and clean: purge, retention, repair."""
