"""The pages of the memory, for a browser on this machine."""
