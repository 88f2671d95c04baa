"""Which note a file is: the one that was at its path, or one that was moved there.

A file keeps its note as long as it can be recognised: by its path, else by its content or by the
permalink in its frontmatter, where the file that had them is not there any more. So a note
survives moves and renames, a deletion that is taken back, and a checkout and its return.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from observer.core.model import Item, Place, item_id
from observer.core.note_file import NoteFile, NoteFileContent
from observer.ingest.projection import Embedder, put_embedded
from observer.note_files.grammar import permalink_of
from observer.note_files.items import ParsedNote, note_item
from observer.note_files.tree import FileStat
from observer.store.writer import Writer

RACY_NS = 100_000_000
"""A file that is younger when it is read may change again without another time."""


class ReadFile(NamedTuple):
    """A file as it was read; `note` is None if its bytes are those that the store knows."""

    path: str
    stat: FileStat
    checksum: str
    note: ParsedNote | None


class Batch:
    """The files of one transaction.

    Args:
        writer: the transaction.
        root: the note folder.
        now_ms: the clock's time.
        embedder: makes the vectors that are stored with notes.
    """

    def __init__(
        self, writer: Writer, root: str, *, now_ms: int, embedder: Embedder | None = None
    ) -> None:
        self._writer = writer
        self._root = root
        self._now_ms = now_ms
        self._embedder = embedder
        self._known: list[NoteFile] = []
        self._chosen: dict[str, NoteFile] = {}
        self._taken: set[int] = set()
        self.changed = self.gone = 0

    def put(
        self,
        read: Sequence[ReadFile],
        missing: Iterable[str],
        *,
        project_id: int | None,
        place: Place,
        commits: Mapping[str, str],
    ) -> None:
        """Store files that were read, and that others are missing.

        `commits` are those as of which files say what they say, by path; else that of `place`.
        """
        fresh = [each for each in read if each.note]
        paths = {*missing, *(each.path for each in read)}
        self._known = self._writer.note_files_like(
            self._root,
            paths=sorted(paths),
            checksums=[each.checksum for each in fresh],
            permalinks=[each.note.permalink for each in fresh if each.note and each.note.permalink],
        )
        self._recognise(read)
        lost = [file for file in self._known if file.gone_ms is None and file.path in paths]
        lost = [file for file in lost if file.item not in self._taken]
        put_gone(self._writer, lost, now_ms=self._now_ms)
        made = self._made(fresh)
        self._writer.put_note_files([(file, note.content) for file, note in made])
        items = [
            note_item(
                file,
                note,
                project_id=project_id,
                branch=place.branch,
                commit=commits.get(file.path, place.commit),
            )
            for file, note in made
        ]
        put_embedded(self._writer, items, self._embedder)
        self._writer.restamp_note_files(
            [self._stamped(self._chosen[each.path], each) for each in read if not each.note]
        )
        self.changed, self.gone = len(made), len(lost)

    def _recognise(self, read: Sequence[ReadFile]) -> None:
        """Choose the note of each file, the surest signs of all files first."""
        new = {each.path: each.checksum for each in read}
        living = {file.path: file for file in self._known if file.gone_ms is None}
        gone = [file for file in self._known if file.gone_ms is not None]
        away = [file for file in living.values() if self._is_away(file, new)]
        signs: tuple[Callable[[ReadFile], NoteFile | None], ...] = (
            lambda each: self._same(each, [living[each.path]] if each.path in living else []),
            lambda each: self._same(each, away),
            lambda each: self._linked(each, away),
            lambda each: living.get(each.path),
            lambda each: self._same(each, gone),
            lambda each: self._linked(each, gone),
            lambda each: next((file for file in gone if file.path == each.path), None),
        )
        for sign in signs:
            for each in read:
                if each.path not in self._chosen:
                    found = sign(each)
                    if found and found.item not in self._taken:
                        self._chosen[each.path] = found
                        self._taken.add(found.item)

    def _is_away(self, file: NoteFile, new: dict[str, str]) -> bool:
        """Return True if the file that had a note is not there any more, or holds something else.

        Two files may have changed names with each other.
        """
        if file.path in new:
            return new[file.path] != file.checksum
        return not os.path.lexists(f"{self._root}/{file.path}")

    def _same(self, read: ReadFile, among: Iterable[NoteFile]) -> NoteFile | None:
        """Return the note of equal content, one of the same file name first."""
        name = read.path.rpartition("/")[2]
        found = [
            file
            for file in among
            if file.checksum == read.checksum and file.item not in self._taken
        ]
        return min(found, key=lambda file: file.path.rpartition("/")[2] != name, default=None)

    def _linked(self, read: ReadFile, among: Iterable[NoteFile]) -> NoteFile | None:
        permalink = read.note.permalink if read.note else ""
        found = (file for file in among if file.permalink == permalink != "")
        return next((file for file in found if file.item not in self._taken), None)

    def _made(self, fresh: Sequence[ReadFile]) -> list[tuple[NoteFile, ParsedNote]]:
        count = sum(each.path not in self._chosen for each in fresh)
        seq = self._writer.reserve_seqs(count) if count else 0
        # Those that the frontmatter asks for first: others take what is left.
        made, permalinks = [], dict[str, int]()
        for each in sorted(fresh, key=lambda each: not (each.note and each.note.permalink)):
            if each.note is None:
                continue
            before = self._chosen.get(each.path)
            item = before.item if before else item_id(seq)
            seq += before is None
            wanted = each.note.permalink or (before.permalink if before else "")
            permalink = self._free(
                wanted or permalink_of(each.path) or f"note-{item}", item, permalinks
            )
            permalinks[permalink] = item
            made.append((self._file(each, each.note, before, item, permalink), each.note))
        return made

    def _free(self, wanted: str, item: int, given: dict[str, int]) -> str:
        """Return a permalink that no other file of the folder has."""
        number, free = 0, wanted
        while given.get(free, item) != item or self._is_used(free, item):
            number += 1
            free = f"{wanted}-{number}"
        return free

    def _is_used(self, permalink: str, item: int) -> bool:
        known = self._writer.note_files_like(
            self._root, paths=(), checksums=(), permalinks=[permalink]
        )
        return any(file.gone_ms is None and file.item != item for file in known)

    def _file(
        self, read: ReadFile, note: ParsedNote, before: NoteFile | None, item: int, permalink: str
    ) -> NoteFile:
        found_ms = before.created_ms if before else min(self._now_ms, read.stat.mtime_ns // 10**6)
        file = NoteFile(
            item=item,
            folder=self._root,
            path=read.path,
            permalink=permalink,
            title=note.title,
            type=note.type,
            checksum=read.checksum,
            created_ms=note.created_ms if note.created_ms is not None else found_ms,
            updated_ms=note.updated_ms or read.stat.mtime_ns // 10**6,
        )
        return self._stamped(file, read)

    def _stamped(self, file: NoteFile, read: ReadFile) -> NoteFile:
        size_bytes, mtime_ns, ctime_ns = read.stat
        is_racy = self._now_ms * 10**6 - ctime_ns < RACY_NS
        return replace(
            file, size_bytes=size_bytes, mtime_ns=mtime_ns, ctime_ns=0 if is_racy else ctime_ns
        )


def put_gone(writer: Writer, files: Sequence[NoteFile], *, now_ms: int) -> None:
    """Store that files are not there any more: their notes are not found, and their text goes.

    Their ids and permalinks stay, for the case that the files come back.
    """
    found = [writer.item(file.item, deleted=True) for file in files]
    nothing = NoteFileContent()
    writer.put_note_files([(replace(file, gone_ms=now_ms), nothing) for file in files])
    writer.put_items(_emptied(item, now_ms) for item in found if item)


def _emptied(item: Item, now_ms: int) -> Item:
    return replace(
        item,
        narrative="",
        concepts=(),
        links=(),
        tags=(),
        metadata="",
        suspicion="",
        enrichment=None,
        validity=(),
        deleted_ms=now_ms,
    )
