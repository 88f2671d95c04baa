"""The clients that observer knows: a module each, found by itself, with its rows in `CLIENTS`."""
