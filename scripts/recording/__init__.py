"""Records what the hooks of clients report in a session with a scripted model."""
