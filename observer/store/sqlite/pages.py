"""Checksums of pages: whatever byte of a database changes is noticed when its page is read.

A page of the database ends in eight bytes that SQLite leaves alone, and holds there the CRC of the
rest. A page in the write-ahead log is proven by the CRC with which this process wrote or last read
it, else by the log's own checksums. A page that does not fit is refused, so that nothing is read
from it: neither a wrong text nor a wrong way to another page.

CRC-32 finds every change of up to 32 bits in a row, and misses one of four billion others. It costs
1 microsecond a page; what SQLite keeps in its cache is not read again.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence

import apsw

VFS = "observer-pages"
RESERVED_BYTES = 8
"""At the end of each page; of the sizes that SQLite's own checksums use, too."""

_PAGE_SIZES = frozenset(512 << shift for shift in range(8))
_MAGIC = b"SQLite format 3\0"
_RESERVED_AT = 20
"""Place in the header of how many bytes each page reserves."""
_FRAME_HEADER_BYTES, _WAL_HEADER_BYTES, _WAL_BIG_ENDIAN = 24, 32, b"\x37\x7f\x06\x83"
_WORD = 1 << 32

Flags = list[int]


def is_whole(page: bytes) -> bool:
    """Return True if a page fits its checksum; one that was never written is all zeros."""
    body = memoryview(page)[:-RESERVED_BYTES]
    return zlib.crc32(body).to_bytes(RESERVED_BYTES, "little") == page[-RESERVED_BYTES:] or not any(
        page
    )


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
        self._is_checked = self._reserves(super().xRead(100, 0) if self.xFileSize() >= 100 else b"")

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - as SQLite calls it
        """Return what is there, once it has proven to be what was written."""
        data: bytes = super().xRead(amount, offset)
        if amount in _PAGE_SIZES and len(data) == amount:
            if not offset:
                self._is_checked = self._reserves(data)
            if self._is_checked and not is_whole(data):
                raise apsw.CorruptError(f"page {offset // amount + 1} was changed on the disk")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as SQLite calls it
        """Write a page with its checksum."""
        if not offset:
            was_checked, self._is_checked = self._is_checked, self._reserves(data)
            if self._is_checked and not was_checked:
                self._seal(len(data))
        is_page = self._is_checked and len(data) in _PAGE_SIZES
        super().xWrite(sealed(data) if is_page else data, offset)

    def xLock(self, level: int) -> None:  # noqa: N802 - as SQLite calls it
        """Take a lock; a file that is open for reading only is never locked against readers.

        SQLite tries that when the last connection closes, and takes any refusal; ours has to be
        one that is no error.
        """
        if self._is_read_only and level > apsw.SQLITE_LOCK_SHARED:
            raise apsw.BusyError("opened for reading only")
        super().xLock(level)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - as SQLite calls it
        """Return what the disk can do, but for reads of less than a page: none proves them."""
        return super().xDeviceCharacteristics() & ~apsw.SQLITE_IOCAP_SUBPAGE_READ

    def _seal(self, page_bytes: int) -> None:
        """Give the pages their checksums that were written before the first one.

        What a cache cannot hold of a new file, such as a copy, comes first.
        """
        for offset in range(page_bytes, self.xFileSize(), page_bytes):
            page = super().xRead(page_bytes, offset)
            if len(page) == page_bytes and any(page):
                super().xWrite(sealed(page), offset)

    def _reserves(self, header: bytes) -> bool:
        return header[:16] == _MAGIC and header[_RESERVED_AT] == RESERVED_BYTES


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


_pages: _Pages | None = None


def register() -> None:
    """Register it over what is the default of this process by now."""
    global _pages  # noqa: PLW0603 - registered as long as it lives
    _pages = _Pages()


register()
