"""The base of every value, values that several rooms share, and how state is read and bounded."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Literal, TypeVar, dataclass_transform

import msgspec

from observer.core.errors import StoreUnavailable


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value: immutable, compared by content, named arguments only."""


class SymbolChanges(Value):
    """Paths of symbols by what became of them, each once, and not with what it stands in.

    `resigned` have another signature, `renamed` are (old path, new path), `commented` have other
    comments and the same code. `only` says that nothing else than layout or comments changed.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    commented: tuple[str, ...] = ()
    only: Literal["", "layout", "comments"] = ""


MOST_TOKENS = 10**12
_Tokens = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)]


class TokenUsage(Value):
    """What a language model read, without the provider's cache, and wrote, with its reasoning."""

    input: _Tokens = 0
    output: _Tokens = 0
    cache_read: _Tokens = 0
    cache_write: _Tokens = 0


_QUICKLY = 1
"""Level of zlib: the best one saves a fourteenth more, in up to twice the time."""
_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


def decode_json(data: bytes | str, shape: type[_T]) -> _T:
    """Return JSON of any origin as a value of that shape.

    Raises msgspec.DecodeError: it is not JSON in UTF-8, is nested too deep or has another shape.
    """
    try:
        return msgspec.json.decode(data, type=shape)
    except (UnicodeError, RecursionError) as error:  # the decoder lets them through
        raise msgspec.DecodeError(str(error)) from error


def encode_state(encoder: msgspec.json.Encoder, state: Value) -> bytes:
    """Return a state as it is stored: JSON, a third as long once it is compressed."""
    return zlib.compress(encoder.encode(state), _QUICKLY)


def decode_state(decoder: msgspec.json.Decoder[_T], data: bytes, *, of: str) -> _T:
    """Return the stored state of a session or a project.

    Raises StoreUnavailable: it is damaged, or of another version. That stops a batch: taken for
    empty all would be lost; blamed on the event at hand, a sound event would be set aside.
    """
    try:
        # An older observer stored the JSON as it is.
        return decoder.decode(data if data[:1] == b"{" else zlib.decompress(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, zlib.error) as error:
        raise StoreUnavailable(
            f"what is remembered of a {of} is damaged: {error}",
            hint="make it anew from the log with: observer doctor --rebuild",
        ) from error


def chunks(
    items: Iterable[_T], *, most: int, size_of: Callable[[_T], int], most_size: int
) -> Iterator[list[_T]]:
    """Yield items in lists of at most so many, and of at most that size where more than one."""
    chunk: list[_T] = []
    size = 0
    for item in items:
        added = size_of(item)
        if chunk and (len(chunk) == most or size + added > most_size):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += added
    if chunk:
        yield chunk


def newest(entries: dict[_K, _V], at_most: int) -> dict[_K, _V]:
    """Drop the oldest entries of a dict, in place, and return it."""
    while len(entries) > at_most:
        del entries[next(iter(entries))]
    return entries
