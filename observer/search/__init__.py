"""Reads: search, timeline and context, ranked from what the store finds."""
