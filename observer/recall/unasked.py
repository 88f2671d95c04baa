"""What may be put before a model that did not ask for it: nothing that gives it orders."""

from __future__ import annotations

from observer.interpret.suspicion import clean, suspicion

__all__ = ["WITHHELD", "clean", "is_harmless"]

WITHHELD = "left out, since it reads like an order to a model"
"""What is said in its place, where silence would mislead."""


def is_harmless(*texts: str) -> bool:
    """Tell whether texts, read as one, give a model no orders."""
    return not suspicion(": ".join(texts))
