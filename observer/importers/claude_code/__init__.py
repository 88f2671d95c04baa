"""Claude Code: transcripts below `~/.claude/projects`, one file a session and one a sub-agent.

The format is the client's own and undocumented; seen in versions 2.0.64 to 2.1.330.
"""
