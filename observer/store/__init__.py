"""Floor 4: the one place that speaks SQL."""
