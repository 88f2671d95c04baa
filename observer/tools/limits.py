"""Limits of one request, the same for agents and for people.

On their own: a command that asks the daemon imports nothing that a memory needs.
"""

from __future__ import annotations

LARGEST = 100_000
"""Most tokens of a context pack."""
MOST_RESULTS = 50
"""Most results of one search."""
MOST_AROUND = 50
"""Most items of a timeline before its anchor, and after it."""
