"""Results of `Memory` that are not those of search or notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from observer.core.errors import ConfigInvalid
from observer.core.model import Item
from observer.core.value import Value


class Fetched(Value):
    """Items in the order asked for, and the ids that do not exist."""

    items: tuple[Item, ...]
    missing: tuple[int, ...] = ()


class Extracted(Value):
    """What a language model found worth keeping, and which one it was."""

    facts: tuple[str, ...]
    model: str


Extract = Callable[[Sequence[str]], Extracted]
"""Asks a language model what of a conversation is worth keeping; takes a text for each message."""


def no_model(_said: Sequence[str]) -> Extracted:
    """Refuse to extract anything: no language model is configured, or none can be asked here.

    Raises:
        ConfigInvalid: always.
    """
    raise ConfigInvalid(
        "no language model is configured", hint="leave infer out, or set llm_url and llm_model"
    )
