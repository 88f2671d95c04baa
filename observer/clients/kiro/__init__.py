"""Kiro: the hook payloads of its CLI and IDE, and its configuration."""
