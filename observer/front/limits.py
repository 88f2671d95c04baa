"""How much one question may ask for; the same for agents and for people."""

from __future__ import annotations

LARGEST = 100_000
"""Tokens of a context pack."""
MOST_RESULTS = 50
"""Of each kind, of one search."""
MOST_AROUND = 50
"""Items of a timeline before its anchor, and after it."""
