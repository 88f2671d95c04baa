"""Pages of the database as bytes: proven when they are read, salvaged where they are damaged.

A page ends in eight bytes that SQLite leaves alone, with the CRC-32 of the rest: 1 microsecond; one
of four billion changes of more than 32 bits is missed. One in the write-ahead log is proven by the
CRC with which this process wrote or last read it, else by the log's own checksums, which SQLite's
`cksumvfs` leaves out.

Salvaging needs no SQLite, neither header, schema nor inner pages: every page is parsed as if it
were a leaf of a table, and rows that match their checksums are kept, wherever they stand.

Source: https://www.sqlite.org/fileformat.html
"""

from __future__ import annotations

import mmap
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import apsw

from observer.store.rows import EVENT_COLUMNS, PROJECT_FIELDS, SalvagedRow, Stored, checksum

VFS = "observer-pages"
RESERVED_BYTES = 8
"""At the end of each page; of the sizes that SQLite's own checksums use, too."""
_WHOLE = zlib.crc32(bytes(RESERVED_BYTES))
"""The checksum of anything that its own checksum follows, in so many bytes."""

_PAGE_SIZES = frozenset(512 << shift for shift in range(8))
_MAGIC = b"SQLite format 3\0"
_RESERVED_AT = 20
"""Place in the header of how many bytes each page reserves."""
_FRAME_HEADER_BYTES, _WAL_HEADER_BYTES, _WAL_BIG_ENDIAN = 24, 32, b"\x37\x7f\x06\x83"
_WORD = 1 << 32

PAGES_CHECKED = 9
"""From this schema version on each page carries a checksum."""
PAGE_BYTES = 4096
"""Of our databases; the header that says so may be damaged."""
USABLE_BYTES = PAGE_BYTES - 8
_HEADER_BYTES, _VERSION = 100, slice(60, 64)
_TABLE_LEAF = 0x0D
_LOCAL_MOST = USABLE_BYTES - 35
_LOCAL_LEAST = (USABLE_BYTES - 12) * 32 // 255 - 23
_COLUMNS = {len(EVENT_COLUMNS) + 1: "event", len(PROJECT_FIELDS) + 1: "project"}
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
_CONSTANTS: dict[int, Stored] = {0: None, 8: 0, 9: 1}
_ENDLESS = 1 << 30

Flags = list[int]


def is_whole(page: bytes) -> bool:
    """Return True if a page fits its checksum; one that was never written is all zeros."""
    return zlib.crc32(page) == _WHOLE or not any(page)


def sealed(page: bytes) -> bytes:
    """Return a page with its checksum."""
    body = memoryview(page)[:-RESERVED_BYTES]
    return b"".join((body, zlib.crc32(body).to_bytes(RESERVED_BYTES, "little")))


class _DatabaseFile(apsw.VFSFile):
    """The file of a database; one that reserves no bytes, of an older observer, is not checked."""

    def __init__(self, base: str, name: str | apsw.URIFilename, flags: Flags) -> None:
        super().__init__(base, name, flags)
        self._name = name if isinstance(name, str) else name.filename()
        self._is_read_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        self._is_checked = self.xFileSize() >= 100 and _reserves(super().xRead(100, 0))

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - as SQLite calls it
        """Return what is there, once it has proven to be what was written."""
        data: bytes = super().xRead(amount, offset)
        if amount in _PAGE_SIZES and len(data) == amount:
            if not offset:
                self._is_checked = _reserves(data)
            if self._is_checked and not is_whole(data):
                raise apsw.CorruptError(f"page {offset // amount + 1} was changed on the disk")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as SQLite calls it
        """Write a page with its checksum."""
        if not offset:
            was_checked, self._is_checked = self._is_checked, _reserves(data)
            if self._is_checked and not was_checked:
                self._seal(len(data))
        is_page = self._is_checked and len(data) in _PAGE_SIZES
        super().xWrite(sealed(data) if is_page else data, offset)

    def xLock(self, level: int) -> None:  # noqa: N802 - as SQLite calls it
        """Take a lock; a file that is open for reading only is never locked against readers."""
        # SQLite tries that when the last connection closes, and takes a refusal that is no error.
        if self._is_read_only and level > apsw.SQLITE_LOCK_SHARED:
            raise apsw.BusyError("opened for reading only")
        super().xLock(level)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - as SQLite calls it
        """Return what the disk can do, but for reads of less than a page: none proves them."""
        return super().xDeviceCharacteristics() & ~apsw.SQLITE_IOCAP_SUBPAGE_READ

    def _seal(self, page_bytes: int) -> None:
        """Give pages of a new file, which a cache could not hold, their checksums."""
        for offset in range(page_bytes, self.xFileSize(), page_bytes):
            page = super().xRead(page_bytes, offset)
            if len(page) == page_bytes and any(page):
                super().xWrite(sealed(page), offset)


def _reserves(header: bytes) -> bool:
    return header.startswith(_MAGIC) and header[_RESERVED_AT] == RESERVED_BYTES


class _LogFile(apsw.VFSFile):
    """The write-ahead log. The marks, shared by all connections, say what stands where."""

    def __init__(
        self, base: str, name: str | apsw.URIFilename, flags: Flags, marks: dict[int, int]
    ) -> None:
        super().__init__(base, name, flags)
        self._marks = marks

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - as SQLite calls it
        """Return what is there, once it has proven to be what was written."""
        data: bytes = super().xRead(amount, offset)
        if amount in _PAGE_SIZES and len(data) == amount:
            mark = zlib.crc32(data)
            if self._marks.get(offset) != mark:
                if not self._is_proven(data, offset):
                    raise apsw.CorruptError(f"the write-ahead log was changed at {offset}")
                self._marks[offset] = mark
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as SQLite calls it
        """Write, and note what a page is."""
        if len(data) in _PAGE_SIZES:
            # Before its bytes are there: else a reader may see them without it.
            self._marks[offset] = zlib.crc32(data)
        super().xWrite(data, offset)

    def _is_proven(self, page: bytes, offset: int) -> bool:
        """Return True if a page fits the checksum of its frame, which goes on from the last one."""
        start = offset - _FRAME_HEADER_BYTES
        magic = super().xRead(4, 0)
        header = super().xRead(_FRAME_HEADER_BYTES, start)
        before = _WAL_HEADER_BYTES - 8
        if start > _WAL_HEADER_BYTES:
            before = start - len(page) - 8
        order = "big" if magic == _WAL_BIG_ENDIAN else "little"
        sums = frame_sums(super().xRead(8, before), header[:8] + page, order)
        return sums == header[16:24]


def frame_sums(before: bytes, content: bytes, order: str) -> bytes:
    """Return the checksums of a frame of the log, given those before it, as they are stored.

    Source: https://www.sqlite.org/fileformat.html#checksum_algorithm
    """
    first, second = (int.from_bytes(before[place : place + 4]) for place in (0, 4))
    words: Sequence[int] = memoryview(content).cast("I")
    if order != sys.byteorder:
        words = [int.from_bytes(word.to_bytes(4, sys.byteorder), order) for word in words]  # type: ignore[arg-type]  # one of the two
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) % _WORD
        second = (second + words[place + 1] + first) % _WORD
    return first.to_bytes(4) + second.to_bytes(4)


class _Pages(apsw.VFS):
    """Opens the files of databases over whatever is the default of this process."""

    def __init__(self) -> None:
        super().__init__(VFS, "")
        self._marks: dict[str, dict[int, int]] = {}

    def xOpen(  # noqa: N802 - as SQLite calls it
        self, name: str | apsw.URIFilename | None, flags: Flags
    ) -> apsw.VFSFile:
        """Open a file; journals and temporary files as they are."""
        base = apsw.vfs_names()[0]
        kind = flags[0]
        if name is not None and kind & apsw.SQLITE_OPEN_MAIN_DB:
            return _DatabaseFile(base, name, flags)
        if name is not None and kind & apsw.SQLITE_OPEN_WAL:
            path = name if isinstance(name, str) else name.filename()
            return _LogFile(base, name, flags, self._marks.setdefault(path, {}))
        return apsw.VFSFile(base, name, flags)


_registered: list[_Pages] = []  # it is, as long as it lives


def register() -> None:
    """Register it over what is the default of this process by now."""
    _registered[:] = [_Pages()]


register()


def salvaged(database: Path) -> Iterator[SalvagedRow]:
    """Yield the whole rows of a database and its log, some more than once. Raises OSError."""
    log = database.with_name(f"{database.name}-wal")
    with _mapped(database) as stored, _mapped(log) as logged:
        frames = list(_frames(logged))
        chains = [_Chain(stored, logged, newer) for newer in (dict(frames), {})]
        for start in range(0, len(stored), PAGE_BYTES):
            yield from _rows(stored[start : start + PAGE_BYTES], chains)
        for _, start in frames:
            yield from _rows(logged[start : start + PAGE_BYTES], chains)


def damaged_pages(database: Path, *, first: int = 0, count: int = _ENDLESS) -> list[int]:
    """Return which pages, of `count` after `first`, do not fit their checksums; raises OSError."""
    found: list[int] = []
    with database.open("rb") as file:
        file.seek(first * PAGE_BYTES)
        for number in range(first + 1, first + count + 1):
            page = file.read(PAGE_BYTES)
            if len(page) < PAGE_BYTES:
                return found
            if not is_whole(page):
                found.append(number)
    return found


def has_checksums(database: Path) -> bool:
    """Return False of a database of an older observer, whose pages prove nothing; raise OSError."""
    with database.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    is_whole = header.startswith(_MAGIC) and len(header) == _HEADER_BYTES
    version = int.from_bytes(header[_VERSION])
    return not is_whole or version >= PAGES_CHECKED or _reserves(header)


_Bytes = bytes | mmap.mmap


@contextmanager
def _mapped(path: Path) -> Iterator[_Bytes]:
    """Lend a file as it stands; one that is missing or empty is no bytes."""
    if not path.exists() or not path.stat().st_size:
        yield b""
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as found:
        yield found


def _frames(logged: _Bytes) -> Iterator[tuple[int, int]]:
    """Yield the page number of each frame and where its page starts, oldest first."""
    step = _FRAME_HEADER_BYTES + PAGE_BYTES
    for start in range(_WAL_HEADER_BYTES, len(logged) - step + 1, step):
        yield int.from_bytes(logged[start : start + 4]), start + _FRAME_HEADER_BYTES


def _rows(page: bytes, chains: Sequence[_Chain]) -> Iterator[SalvagedRow]:
    if len(page) < PAGE_BYTES:
        return
    start = 100 if page[:6] == b"SQLite" else 0
    if page[start] != _TABLE_LEAF:
        return
    for place in range(start + 8, USABLE_BYTES - 1, 2):
        cell = int.from_bytes(page[place : place + 2])
        if not start + 8 < cell < USABLE_BYTES - 4:
            return  # behind the last pointer
        read = (_row(page, cell, chain) for chain in chains)
        yield from islice(filter(None, read), 1)


class _Chain(NamedTuple):
    """Where what does not fit into a page goes on."""

    stored: _Bytes
    logged: _Bytes
    newest: Mapping[int, int]

    def rest(self, number: int, length: int) -> bytes:
        parts = []
        while length > 0 and number:
            is_logged = number in self.newest
            start = self.newest[number] if is_logged else (number - 1) * PAGE_BYTES
            page = (self.logged if is_logged else self.stored)[start : start + PAGE_BYTES]
            if len(page) < PAGE_BYTES:
                break
            parts.append(page[4 : 4 + min(length, USABLE_BYTES - 4)])
            length -= USABLE_BYTES - 4
            number = int.from_bytes(page[:4])
        return b"".join(parts)


def _row(page: bytes, cell: int, chain: _Chain) -> SalvagedRow | None:
    """Read one cell; None if it is not a row of ours, or does not match its checksum."""
    try:
        length, at = _varint(page, cell)
        key, at = _varint(page, at)
        if not 0 < length < 2 * len(chain.stored) + 2 * len(chain.logged):
            return None
        local = _local(length)
        payload = page[at : at + local]
        if local < length:
            number = int.from_bytes(page[at + local : at + local + 4])
            payload += chain.rest(number, length - local)
        values = _values(payload)
    except (LookupError, ValueError):
        return None
    if values is None or len(payload) != length:
        return None
    table = _COLUMNS[len(values)]
    *kept, known = values
    kept[0] = key  # an INTEGER PRIMARY KEY stands in the key alone
    if table == "event":
        # Where the columns were added to the table is not where the checksum has them.
        kept = [*kept[:11], kept[12], kept[11]]
    return SalvagedRow(table, key, tuple(kept)) if checksum(*kept) == known else None


def _local(length: int) -> int:
    """Return how many bytes of a row stand in its own page."""
    if length <= _LOCAL_MOST:
        return length
    surplus = _LOCAL_LEAST + (length - _LOCAL_LEAST) % (USABLE_BYTES - 4)
    return surplus if surplus <= _LOCAL_MOST else _LOCAL_LEAST


def _values(payload: bytes) -> list[Stored] | None:
    """Return the values of a row, text as bytes; None if no table of ours has so many."""
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end and len(kinds) <= max(_COLUMNS):
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if len(kinds) not in _COLUMNS:
        return None
    found: list[Stored] = []
    for kind in kinds:
        width = (kind - 12) // 2 if kind >= 12 else _WIDTHS[kind]
        held = payload[at : at + width]
        at += width
        if kind in _CONSTANTS:
            found.append(_CONSTANTS[kind])
        else:
            found.append(held if kind >= 12 else int.from_bytes(held, signed=True))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
