"""Strings of JSON in an output, which may be cut anywhere, so that it cannot be parsed as a whole.

Part of interpretation (step 6).
"""

from __future__ import annotations

import json

STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
"""The pattern of a string, quotes included."""


def unquoted(string: str) -> str:
    """Return what a string of JSON says; half a surrogate pair becomes a question mark."""
    said: str = json.loads(string)
    return said.encode(errors="replace").decode()
