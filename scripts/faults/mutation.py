"""Bytes a little changed: what a reader takes for its own at first, and is not."""

from __future__ import annotations

import random
from collections.abc import Sequence

ODD = (
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\n",
        b"\r\n",
        b'"',
        b"'",
        b"\\",
        b"`",
    ),
    *(b"{" * 300, b"[" * 3000, b"(" * 500, b"$(" * 200, b'{"a":' * 400, b"<<E\n", b"-" * 200),
    *(
        b"9" * 5000,
        b"-1",
        b"1e999",
        b"NaN",
        b"null",
        b"true",
        b"[]",
        b"{}",
        b'""',
        b"0x",
        b"\\u0000",
    ),
    *(b"\\ud800", "\u202e\u0301\u200d".encode(), b"a" * 3000, b"/.." * 100, b"%s%n", b"=", b"\t"),
)


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return bytes with up to six changes: bits, pieces left out, doubled, swapped, odd ones in."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        start = chance.randint(0, len(changed))
        end = min(len(changed), start + chance.choice((1, 2, 8, 64, 512)))
        match chance.randint(0, 5):
            case 0 if start < len(changed):
                changed[start] ^= 1 << chance.randint(0, 7)
            case 1:
                del changed[start:end]
            case 2:
                changed[start:start] = changed[start:end] * chance.randint(1, 4)
            case 3:
                other = chance.choice(others)
                begin = chance.randint(0, len(other))
                changed[start:end] = other[begin : begin + chance.randint(1, 200)]
            case _:
                changed[start:end] = chance.choice(ODD)
    return bytes(changed)
