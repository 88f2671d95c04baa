"""The memory on a terminal's whole screen."""
