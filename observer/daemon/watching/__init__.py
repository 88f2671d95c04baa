"""The file watcher: finds writes that no hook reported."""
