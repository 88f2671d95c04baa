"""What may be put before a model that did not ask for it: nothing that gives it orders."""

from __future__ import annotations

from observer.interpret.suspicion import strict_suspicion

WITHHELD = "left out, since it reads like an order to a model"
"""What is said in its place, where silence would mislead."""


def is_harmless(*texts: str) -> bool:
    """Return True if texts, read as one, give a model no orders, in quotation marks or not."""
    return not strict_suspicion(": ".join(texts))


def clean(text: str) -> str:
    """Return a text, or nothing where it is not harmless."""
    return text if is_harmless(text) else ""
