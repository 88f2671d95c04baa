"""Rows of the SQLite schema to values and back, packed, a checksum for each event and project.

Pages have checksums of their own; those of rows show which are intact on a damaged page, in one
that no table leads to any more, in an old copy. CRC-32: 1 microsecond for 4 KB.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

import msgspec

from observer.core.errors import StoreUnavailable
from observer.core.events import Event, kind_of
from observer.core.model import (
    Enrichment,
    Item,
    ItemChange,
    Link,
    Project,
    Recorded,
    Session,
    SummaryFields,
    spaced,
)

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
    """Return the text of what was packed with the same `known`; of what is damaged its beginning.

    What was not packed is returned as it is.
    """
    if stored[:1] != _MARK:
        return stored
    with suppress(zlib.error):
        return zlib.decompressobj(_RAW, _KNOWN + known).decompress(memoryview(stored)[1:])
    reading, found = zlib.decompressobj(_RAW, _KNOWN + known), b""
    with suppress(zlib.error):
        for place in range(1, len(stored)):
            found += reading.decompress(stored[place : place + 1])
    return found


Stored = int | float | str | bytes | None
"""A value as the engine has it."""
Values = tuple[Stored, ...]
AMONG = "IN (SELECT value FROM json_each(?))"
"""Behind a column: one of the values that `among` made a text of; prepared once for any number."""

KEY_END = 16
"""Characters at the end of a `dedup` that are in its index: nearly all that is its own."""
SAME = f"dedup = {{0}} AND dedup <> '' AND substr(dedup, -{KEY_END}) = substr({{0}}, -{KEY_END})"
"""Says of an event that its `dedup` is a value; `format` puts that in."""


class SalvagedRow(NamedTuple):
    """A whole row: its table, its key, and its values in the order of the columns."""

    table: str
    key: int
    values: Values


EVENT_COLUMNS = (
    "seq", "id", "dedup", "kind", "client", "project_id", "session_id", "root", "branch",
    "commit_hash", "at_ms", "data", "stored_ms",
)  # fmt: skip
"""What an event's checksum is over, in this order; `data` as it is stored."""
AROUND = ("id", "dedup", "client", "root", "branch", "commit_hash")
"""Columns of an event that its `data` repeats, and is packed with."""
_AROUND, _DATA = tuple(map(EVENT_COLUMNS.index, AROUND)), EVENT_COLUMNS.index("data")
_NUMBERS = frozenset(("seq", "project_id", "session_id", "at_ms", "stored_ms"))


def checksum(*values: Stored) -> int:
    """Return the checksum of a row's values; text counts by its bytes, whatever they are."""
    return zlib.crc32(b"\0".join(map(_bytes, values)))


def as_blobs(columns: tuple[str, ...]) -> str:
    """Return columns of events as they are read: text as it stands, since it may not be UTF-8."""
    return ", ".join(name if name in _NUMBERS else f"CAST({name} AS BLOB)" for name in columns)


def event_json(*row: Stored) -> bytes:
    """Return an event as JSON, from its `data` and `AROUND`: a function of the engine."""
    data, *around = map(_bytes, row)
    return unpacked(data, b"\n".join(around))


EVENT_JSON = f"event_json({as_blobs(('data', *AROUND))})"
"""The same of a row, as a blob."""


def packed_event(*row: Stored) -> bytes:
    """Return `data`, packed already or not, as stored beside `AROUND`: a function of the engine."""
    data, *around = map(_bytes, row)
    return packed(data, b"\n".join(around))


def as_stored(values: Sequence[Stored]) -> Values:
    """Return the `EVENT_COLUMNS` of an event whose `data` may be JSON."""
    data = packed_event(values[_DATA], *(values[place] for place in _AROUND))
    return (*values[:_DATA], data, *values[_DATA + 1 :])


def _bytes(value: Stored) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return b"" if value is None else str(value).encode()


_T = TypeVar("_T", bound=msgspec.Struct)
Row = tuple[Any, ...]
"""One result row; `Any` because SQLite's columns are typed by the schema, not by Python."""

_encode = msgspec.json.Encoder().encode
_event = msgspec.json.Decoder(Event).decode
to_strings = msgspec.json.Decoder(tuple[str, ...]).decode
_summary = msgspec.json.Decoder(SummaryFields).decode
to_enrichment = msgspec.json.Decoder(Enrichment).decode
to_links = msgspec.json.Decoder(tuple[Link, ...]).decode

_DAMAGES = (msgspec.MsgspecError, ValueError, TypeError)
"""What comes of reading what somebody, or a disk, has changed."""

_RENAMED = {"commit": "commit_hash"}
ITEM_FIELDS = tuple(name for name in Item.__struct_fields__ if name != "validity")
_NARRATIVE, _SUMMARY, _ENRICHMENT, _LINKS = map(
    ITEM_FIELDS.index, ("narrative", "summary", "enrichment", "links")
)
_STRINGS = ("facts", "concepts", "files_read", "files_modified", "tags")
_LISTS = dict.fromkeys(map(ITEM_FIELDS.index, _STRINGS), to_strings) | {_LINKS: to_links}
"""How the columns that hold lists are read."""
_NONE_LISTED = "[]"
_VALUES = {_SUMMARY: _summary, _ENRICHMENT: to_enrichment}
"""How the columns that hold one value, or NULL, are read."""
LONG_TEXTS, LONG = ("narrative", "facts", "summary"), 500
"""Columns of items that are packed where they have so many characters: a twentieth of them, which
hold most of the bytes. Those of notes in files are read by statements, and stay as they are."""
_LONG_PLACES = tuple(map(ITEM_FIELDS.index, LONG_TEXTS))
ITEM_COLUMNS = ", ".join(_RENAMED.get(name, name) for name in ITEM_FIELDS)
SESSION_FIELDS = Session.__struct_fields__
PROJECT_FIELDS = Project.__struct_fields__

# Begins with the capital, which the engine finds faster than it tries anything.
_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
_HUMPED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9][a-z0-9]*+[A-Z][A-Za-z0-9]*+")
"""A name with a capital inside: what may have a hump."""


def json_text(value: object) -> str:
    """Return a value as JSON text."""
    return _encode(value).decode()


def among(values: Iterable[int | str]) -> str:
    """Return the value for an `AMONG`."""
    return json_text(list(values))


def marks(count: int) -> str:
    """Return the places of so many values."""
    return ", ".join("?" * count)


def put(table: str, columns: str) -> str:
    """Return the statement that inserts or replaces a row."""
    values = marks(columns.count(",") + 1)
    return f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})"


def item_row(item: Item) -> Row:
    """Return an item's values in the order of `ITEM_FIELDS`."""
    values = list(msgspec.structs.astuple(item))[: len(ITEM_FIELDS)]
    if item.summary and item.narrative == item.summary.text:
        values[_NARRATIVE] = ""  # not twice
    for place in _LISTS:
        values[place] = json_text(values[place]) if values[place] else _NONE_LISTED
    for place in _VALUES:
        if values[place]:
            values[place] = json_text(values[place])
    for place in () if item.file else _LONG_PLACES:
        text = values[place]
        if text and len(text) >= LONG and text[0] != "\1":
            values[place] = packed(text.encode())
    return tuple(values)


def to_item(row: Row) -> Item:
    """Build an item from columns in the order of `ITEM_FIELDS`."""
    values = list(row)
    try:
        for place in _LONG_PLACES:
            if isinstance(values[place], bytes):
                values[place] = unpacked(values[place]).decode()
        for place, read in _LISTS.items():
            # Most are empty, and need not be decoded.
            values[place] = () if values[place] == _NONE_LISTED else read(values[place])
        for place, read_one in _VALUES.items():
            if values[place]:
                values[place] = read_one(values[place])
        if values[_SUMMARY] and not values[_NARRATIVE]:
            values[_NARRATIVE] = values[_SUMMARY].text
    except _DAMAGES as error:
        raise StoreUnavailable(
            f"what is stored of item {values[0]} is damaged: {error}",
            hint="make it anew from the log with: observer doctor --rebuild",
        ) from error
    return Item(**dict(zip(ITEM_FIELDS, values, strict=True)))


def to_change(row: Row) -> ItemChange:
    """Build a change from its number, a vector or None, and the columns of the item."""
    number, vector, *columns = row
    item = to_item(tuple(columns))
    is_gone = item.deleted_ms is not None
    return ItemChange(change=number, id=item.id, item=None if is_gone else item, vector=vector)


def built(kind: type[_T], row: Iterable[Any]) -> _T:
    """Build a value from the columns of its fields, in their order."""
    return kind(**dict(zip(kind.__struct_fields__, row, strict=True)))


to_session = partial(built, Session)


def project_row(project: Project) -> Row:
    """Return a project's values in the order of `PROJECT_FIELDS`, and their checksum."""
    values = [
        json_text(value) if isinstance(value, tuple) else value
        for value in msgspec.structs.astuple(project)
    ]
    return (*values, checksum(*values))


def to_project(row: Row) -> Project:
    """Build a project from columns in the order of `PROJECT_FIELDS`."""
    values = dict(zip(PROJECT_FIELDS, row, strict=True))
    for name in ("roots", "common_dirs", "inodes", "remotes", "earlier_names"):
        values[name] = to_strings(values[name])
    return Project(**values)


RECORDED_COLUMNS = f"checksum, {as_blobs(EVENT_COLUMNS)}"


def recorded_row(recorded: Recorded, data: str = "") -> Row:
    """Return what `as_stored` takes of an event, without `stored_ms`; `data` is it as JSON."""
    event = recorded.event
    return (
        recorded.seq,
        event.id,
        event.dedup,
        kind_of(event.body),
        event.client,
        recorded.project_id,
        recorded.session_id,
        recorded.root,
        recorded.branch,
        recorded.commit,
        event.at_ms,
        data or json_text(event),
    )


def to_recorded(row: Row) -> Recorded:
    """Build a recorded event from `RECORDED_COLUMNS`. Raises StoreUnavailable: it is damaged."""
    known, *values = row
    seq, *_, project_id, session_id, root, branch, commit, _at_ms, _data, _stored_ms = values
    try:
        if known != checksum(*values):
            raise ValueError("it does not fit its checksum")
        event = _event(event_json(values[_DATA], *(values[place] for place in _AROUND)))
    except _DAMAGES as error:
        raise StoreUnavailable(
            f"what is stored of event {seq} is damaged: {error}",
            hint="if a copy of the database has it whole, put that in its place",
        ) from error
    return Recorded(
        seq=seq,
        event=event,
        project_id=project_id,
        session_id=session_id,
        root=root.decode(),
        branch=branch.decode(),
        commit=commit.decode(),
    )


PROJECT_TERM, KIND_TERM = "zqp{}", "zqk{}"
"""Index terms of a project's id, 0 for none, and of a kind; `format` puts that in."""


def code_aware(text: str) -> str:
    """Return the text, followed by the words inside its camelCase names, which stay whole else."""
    text = spaced(text)
    if not _HUMP.search(text):
        return text
    parts = map(_parted, dict.fromkeys(_HUMPED.findall(text)))
    return "\n".join((text, *filter(None, parts)))


@lru_cache(maxsize=4096)
def _parted(name: str) -> str:
    """Return the words inside a name, nothing for one without a hump."""
    return _HUMP.sub(r" \g<0>", name) if _HUMP.search(name) else ""
