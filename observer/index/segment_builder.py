"""Building segments: from changed items, by merging segments, from a file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from observer.core.model import Item, ItemChange
from observer.core.value import Value, decode_json
from observer.index.arrays import SavedArrays
from observer.index.segment import (
    ATTRIBUTES,
    NOBODY,
    ROWS_AT_ONCE,
    Segment,
    attribute,
    inverted,
    widths,
)
from observer.index.tokens import COLUMNS, SEPARATOR, Codes
from observer.index.vectors import norms, signs

NO_SESSION = -1
_EMPTY = array("I", [SEPARATOR] * COLUMNS)


class FileFacts(Value):
    """Metadata of a segment file beside its arrays."""

    last_change: int
    model: str


def segment(
    changes: Sequence[ItemChange],
    codes: Codes,
    *,
    model: str,
    dimensions: int,
    mean_length: float,
    pause: Callable[[], None] = lambda: None,
) -> Segment:
    """Return the rows of changed items.

    Args:
        changes: at least one, in their order.
        codes: turns text into numbers.
        model: the model that made the vectors.
        dimensions: of each vector.
        mean_length: words of a row, of all rows there are; 0 if there are none.
        pause: called before each item.
    """
    newest = {change.id: change for change in changes}
    ordered = [newest[item_id] for item_id in sorted(newest)]
    streams = [_stream(one, codes, pause) for one in ordered]
    starts = np.cumsum([0, *map(len, streams)], dtype=np.int64)
    mean_length = mean_length or float(starts[-1]) / len(ordered) - COLUMNS
    tokens = np.frombuffer(b"".join(streams), np.uint32)
    arrays = {
        **_attributes(ordered),
        "vectors": _vectors([one.vector for one in ordered], dimensions),
        "starts": starts,
        "tokens": tokens,
    }
    return _segment(arrays, FileFacts(last_change=changes[-1].change, model=model), mean_length)


def _stream(change: ItemChange, codes: Codes, pause: Callable[[], None]) -> array[int]:
    pause()
    return codes.of_item(change.item) if change.item else _EMPTY


def merged(
    segments: Sequence[Segment], *, model: str, dimensions: int, mean_length: float
) -> Segment:
    """Return the rows of several segments that are not buried, as one segment.

    Vectors of another model than this one are left behind.
    """
    kept = [np.flatnonzero(~each.buried) for each in segments]
    order = np.argsort(_joined([each.ids[rows] for each, rows in zip(segments, kept, strict=True)]))
    whole = {}
    for name in ("ids", "living", "session", "created", *ATTRIBUTES):
        taken = [each.arrays[name][rows] for each, rows in zip(segments, kept, strict=True)]
        whole[name] = _joined(taken)[order]
    own = [
        _own_vectors(each, rows, model, dimensions)
        for each, rows in zip(segments, kept, strict=True)
    ]
    whole["vectors"] = _joined(own)[order]
    whole["starts"], whole["tokens"] = _streams(segments, kept, order)
    facts = FileFacts(last_change=segments[-1].last_change, model=model)
    return _segment(whole, facts, mean_length)


def loaded(saved: SavedArrays) -> Segment:
    """Return the rows of a file.

    Raises:
        msgspec.MsgspecError, KeyError: the file is not of such rows.
    """
    facts = decode_json(saved.facts, FileFacts)
    return Segment(saved.arrays, last_change=facts.last_change, model=facts.model)


def facts_of(one: Segment) -> FileFacts:
    """Return the metadata of a segment beside its arrays."""
    return FileFacts(last_change=one.last_change, model=one.model)


def _segment(arrays: dict[str, NDArray[Any]], facts: FileFacts, mean_length: float) -> Segment:
    vectors = arrays["vectors"]
    postings = inverted(arrays["tokens"], arrays["starts"], mean_length=mean_length)
    derived = postings._asdict()
    lengths = norms(vectors)
    held = vectors[lengths > 0]
    arrays |= derived | {"vectors": held, "signs": signs(held), "norms": lengths}
    return Segment(arrays, last_change=facts.last_change, model=facts.model)


def _attributes(changes: Sequence[ItemChange]) -> dict[str, NDArray[Any]]:
    items = [change.item for change in changes]
    rows = [_codes_of(item) if item else (0,) * len(ATTRIBUTES) for item in items]
    table = np.array(rows, dtype=np.uint32).T
    sessions = [NO_SESSION if not i or i.session_id is None else i.session_id for i in items]
    return {
        "ids": np.array([change.id for change in changes], dtype=np.int64),
        "living": np.array([item is not None for item in items], dtype=np.bool_),
        "session": np.array(sessions, dtype=np.int64),
        "created": np.array([item.created_ms if item else 0 for item in items], dtype=np.int64),
        **dict(zip(ATTRIBUTES, table, strict=True)),
    }


def _codes_of(item: Item) -> tuple[int, ...]:
    owner = attribute(f"owner {item.owner}") if item.scope == "personal" else NOBODY
    texts = (item.kind, item.type, item.category, item.branch)
    return (item.project_id or 0, *map(attribute, texts), owner)


def _vectors(vectors: Sequence[bytes | None], dimensions: int) -> NDArray[np.int8]:
    blank = bytes(dimensions)
    # A shorter one is the beginning of a vector whose rest is still to come.
    is_ours = (
        vector.ljust(dimensions, b"\0") if vector and len(vector) <= dimensions else blank
        for vector in vectors
    )
    return np.frombuffer(b"".join(is_ours), np.int8).reshape(len(vectors), dimensions)


def _own_vectors(
    one: Segment, rows: NDArray[np.int64], model: str, dimensions: int
) -> NDArray[np.int8]:
    found = np.zeros((len(rows), dimensions), np.int8)
    if one.model == model:
        have = one.has_vector[rows]
        found[have] = one.vectors[one.places[rows[have]]]
    return found


def _streams(
    segments: Sequence[Segment], kept: Sequence[NDArray[np.int64]], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the streams of the rows kept, in a new order."""
    begins, lengths, offset = [], [], 0
    for each, rows in zip(segments, kept, strict=True):
        begins.append(each.starts[rows] + offset)
        lengths.append(widths(each.starts)[rows])
        offset += len(each.tokens)
    return gathered(
        _joined([each.tokens for each in segments]), _joined(begins)[order], _joined(lengths)[order]
    )


def gathered(
    tokens: NDArray[np.uint32], begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return stretches of an array one behind the other, and where each starts."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    found = np.empty(starts[-1], tokens.dtype)
    for first in range(0, len(lengths), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        ends = starts[first : first + ROWS_AT_ONCE + 1]
        places = np.arange(ends[0], ends[-1])
        places += np.repeat(begins[rows] - ends[:-1], lengths[rows])
        found[ends[0] : ends[-1]] = tokens[places]
    return starts, found


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays)
