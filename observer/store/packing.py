"""Texts of the store as bytes that take less: deflated, with what is known before it is read.

`packing.txt` is made up of what events often hold. It is part of the format: what was packed with
it can be read with nothing else, so another one needs another mark. What stands in other columns of
a row is known too. Figures: docs/decisions/0024-packed-events.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files

_MARK = b"\x01"
"""Before what was packed with this text; no text begins so."""
_KNOWN = files("observer.store").joinpath("packing.txt").read_bytes()
_LEVEL, _RAW = 6, -14


def packed(text: bytes, known: bytes = b"") -> bytes:
    """Return what `unpacked` makes the text of again; what is packed already stays as it is."""
    if text[:1] == _MARK:
        return text
    packing = zlib.compressobj(
        _LEVEL, zlib.DEFLATED, _RAW, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY, _KNOWN + known
    )
    made = b"".join((_MARK, packing.compress(text), packing.flush()))
    return min(made, text, key=len)


def unpacked(stored: bytes, known: bytes = b"") -> bytes:
    """Return the text of what was packed with the same `known`, else what is stored.

    Of what was damaged the text is what can be read before the damage.
    """
    if stored[:1] != _MARK:
        return stored
    reading = zlib.decompressobj(_RAW, _KNOWN + known)
    try:
        return reading.decompress(memoryview(stored)[1:])
    except zlib.error:
        return b"".join(_readable(stored, zlib.decompressobj(_RAW, _KNOWN + known)))


def _readable(stored: bytes, reading: zlib._Decompress) -> Iterator[bytes]:
    with suppress(zlib.error):
        for place in range(1, len(stored)):
            yield reading.decompress(stored[place : place + 1])
