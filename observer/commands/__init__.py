"""What a command line is, and how it ended."""
