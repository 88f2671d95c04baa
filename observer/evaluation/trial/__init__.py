"""The analysis of a trial of reminders on the user's own machine: sessions, arm against arm."""
