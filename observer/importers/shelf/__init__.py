"""The importers: a module for each program, found by itself, with its rows in `SOURCES`."""
