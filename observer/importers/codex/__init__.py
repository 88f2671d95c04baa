"""Codex CLI: rollouts below `~/.codex/sessions`, one file a session.

The format is the client's own and undocumented; seen in versions 0.140.0 to 0.169.0,
and read as others have described it for older ones.
"""
