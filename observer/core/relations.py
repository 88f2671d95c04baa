"""What a memory says that entities have to do with each other: its agent passes it as metadata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from observer.core.model import Item


class EntityRelation(NamedTuple):
    """A relation, in an agent's words: ``fee service``, ``uses``, ``Redis``."""

    source: str
    kind: str
    target: str

    def __str__(self) -> str:
        """Return it as it is shown."""
        return f"{self.source} -{self.kind}-> {self.target}"


class _Stated(msgspec.Struct):
    """A relation as mem0 spells it, which has two names for its kind and for its other end."""

    source: str = ""
    relation: str = ""
    relationship: str = ""
    destination: str = ""
    target: str = ""


class _Metadata(msgspec.Struct):
    relations: list[msgspec.Raw] = []


MOST, MOST_CHARS = 100, 200
"""Relations of one memory, and characters of an end or a kind."""
_metadata = msgspec.json.Decoder(_Metadata).decode
_stated = msgspec.json.Decoder(_Stated).decode


def relations_of(item: Item) -> list[EntityRelation]:
    """Return what an item's metadata says in `relations`; what does not name both ends is none."""
    return list(_relations(item.metadata)) if '"relations"' in item.metadata else []


def _relations(metadata: str) -> Iterator[EntityRelation]:
    with suppress(msgspec.MsgspecError):
        for raw in _metadata(metadata).relations[:MOST]:
            with suppress(msgspec.MsgspecError):
                one = _stated(raw)
                kind, target = one.relation or one.relationship, one.destination or one.target
                source, kind, target = (
                    " ".join(each.split()) for each in (one.source, kind, target)
                )
                if (
                    source
                    and kind
                    and target
                    and len(max(source, kind, target, key=len)) <= MOST_CHARS
                ):
                    yield EntityRelation(source, kind, target)
