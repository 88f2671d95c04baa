"""bash, zsh and fish: what their recorders report, and how they are installed."""
