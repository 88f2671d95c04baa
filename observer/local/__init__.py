"""How hooks and short-lived processes write and reach the daemon; standard library only."""
