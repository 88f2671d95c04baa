"""What a fuzzed reader promises of its answers."""

from __future__ import annotations


class PromiseBroken(Exception):
    """An answer that is not what its function promises."""


def promised(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads like an assertion
    """Raise `PromiseBroken` with what happened otherwise, unless it holds."""
    if not holds:
        raise PromiseBroken(otherwise)
