"""Claude Code: its hook payloads, and its configuration."""
