"""Notes: what people and agents recorded on purpose, their links, signals and inferences."""
