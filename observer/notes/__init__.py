"""Notes: what people and agents recorded on purpose, how it changed and what it belongs to."""
