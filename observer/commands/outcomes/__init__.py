"""What the output of a command says: passed or failed, how many, what first. Pure."""
