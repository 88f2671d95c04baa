"""Floor 4: the only place that speaks SQL."""
