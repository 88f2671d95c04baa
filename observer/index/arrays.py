"""Named arrays in one file, mapped into memory; a truncated or corrupt file is detected.

Layout: a line that names the format, the length and the checksum of the header, the header (JSON:
facts, and of each array its name, type, shape, place and checksum), the arrays at multiples of 64
bytes, and the first line's mark again at the end, so that a file that was cut is seen to be.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from observer.core.paths import flush, open_plain
from observer.core.value import Value, decode_json

Arrays = Mapping[str, NDArray[Any]]
"""`Any`: each array has an element type of its own, named where it is used."""

MARK = b"observer index 2\n"
ALIGNMENT = 64

_LENGTHS = struct.Struct("<II")


class CorruptFile(Exception):
    """A file is not what was written: cut, overwritten, or of another format."""


class SavedArrays(NamedTuple):
    """The facts and arrays of a file; the arrays are mapped, read-only."""

    facts: bytes
    arrays: Arrays


class _Slot(Value):
    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    checksum: int


class _Header(Value):
    facts: msgspec.Raw
    slots: tuple[_Slot, ...]
    size_bytes: int


def save(path: Path, facts: Value, arrays: Arrays) -> None:
    """Write a file in full, then give it its name. Raises: OSError (nothing is left under it)."""
    slots, end = [], 0
    for name, array in arrays.items():
        kind, checksum = array.dtype.str, zlib.crc32(np.ascontiguousarray(array).data)
        slots.append(_Slot(name=name, dtype=kind, shape=array.shape, offset=end, checksum=checksum))
        end = _aligned(end + array.nbytes)
    raw = msgspec.Raw(msgspec.json.encode(facts))
    header = msgspec.json.encode(_Header(facts=raw, slots=tuple(slots), size_bytes=end))
    begin = _aligned(len(MARK) + _LENGTHS.size + len(header))
    unfinished = path.with_name(f".{path.name}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(MARK + _LENGTHS.pack(len(header), zlib.crc32(header)) + header)
            for slot in slots:
                file.seek(begin + slot.offset)
                file.write(np.ascontiguousarray(arrays[slot.name]).data)
            file.seek(begin + end)
            file.write(MARK)
            file.flush()
            flush(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def load(path: Path) -> SavedArrays:
    """Map a file. Raises: CorruptFile (missing, cut, damaged, or of another format)."""
    try:
        header, begin = _header(path)
        mapped = np.memmap(path, dtype=np.uint8, mode="r")
        if (
            mapped.size != begin + header.size_bytes + len(MARK)
            or mapped[-len(MARK) :].tobytes() != MARK
        ):
            raise CorruptFile(f"{path.name} was cut")
        arrays = {}
        for slot in header.slots:
            dtype = np.dtype(slot.dtype)
            start = begin + slot.offset
            end = start + dtype.itemsize * int(np.prod(slot.shape, dtype=np.int64))
            array = mapped[start:end].view(np.ndarray).view(dtype).reshape(slot.shape)
            if zlib.crc32(np.ascontiguousarray(array).data) != slot.checksum:
                raise CorruptFile(f"{slot.name} is damaged")
            arrays[slot.name] = array
        release(mapped)  # all was read, little will be asked
        return SavedArrays(bytes(header.facts), arrays)
    except (OSError, ValueError, TypeError, struct.error, msgspec.MsgspecError) as error:
        raise CorruptFile(f"{path.name}: {error}") from error


def release(array: NDArray[Any]) -> None:
    """Take a mapped array out of this process's memory until it is read again; others stay."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap):
        start = array.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
        first = start - start % mmap.PAGESIZE
        owner.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


def _header(path: Path) -> tuple[_Header, int]:
    with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
        if file.read(len(MARK)) != MARK:
            raise CorruptFile(f"{path.name} is of another format")
        length, checksum = _LENGTHS.unpack(file.read(_LENGTHS.size))
        header = file.read(length)
    if len(header) != length or zlib.crc32(header) != checksum:
        raise CorruptFile(f"{path.name} has a damaged header")
    begin = _aligned(len(MARK) + _LENGTHS.size + length)
    return decode_json(header, _Header), begin


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
