"""The way of an event: decode, redact, locate, append, derive."""
