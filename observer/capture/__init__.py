"""Capture: from the bytes that a hook wrote to a redacted event in a known project."""
