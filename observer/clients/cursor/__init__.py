"""Cursor: its hook payloads, and its configuration."""
