"""Command lines: what they run, what they check, what their exit code proves. Pure."""
