"""The command line: `observer COMMAND`, for people and for scripts (`--json` everywhere)."""

from observer.cli.app import main

__all__ = ["main"]
