"""What telling unasked is worth on the user's own machine: a trial's sessions, arm against arm."""
