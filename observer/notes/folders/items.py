"""From the text of a file to the note: what is stored, without secrets. Pure.

A file keeps its note by its path, else by its content or the permalink in its frontmatter, where
the file that had them is not there any more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import msgspec
import orjson
from msgspec.structs import replace

from observer.core.child_process import ChildProcess, serve
from observer.core.clock import iso_ms
from observer.core.model import Item, Link, Place, item_id, item_uuid, seq_of, title_key
from observer.core.note_file import NoteFile, NoteFileContent
from observer.core.text import block, distinct, one_line
from observer.ingest.projection import Embedder, put_embedded
from observer.notes.folders.grammar import (
    LINKS_TO,
    Field,
    Fields,
    content_of,
    fields_of,
    parts_of,
    permalink_of,
)
from observer.notes.folders.tree import FileStat, stem_of
from observer.observations.note_reducer import (
    CONTENT_CHARS,
    LINKS,
    METADATA_CHARS,
    TAGS,
    acts,
    label_of,
    note_type,
    tags_of,
    title_of,
)
from observer.observations.prompt_injection import suspicion_once
from observer.redaction.redact import redact_text
from observer.store.writer import Writer

STANDARD = ("title", "type", "permalink", "tags")
"""Fields that say what a note is; all others are metadata."""
NOTE = "note"
ALIASES = 50
"""Most other names of one note."""
_BY_ID = frozenset({LINKS_TO, "supersedes", "amends"})
"""Relations that are plain links by title; what they do to another note: see `acts`."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class ParsedNote(NamedTuple):
    """What a file says, without secrets; `permalink` and the times as its frontmatter has them."""

    title: str
    type: str
    permalink: str
    tags: tuple[str, ...]
    metadata: Fields
    body: str
    suspicion: str
    content: NoteFileContent
    created_ms: int | None
    updated_ms: int | None


def parsed(text: str, path: str) -> ParsedNote:
    """Parse the text of the file at a path; malformed frontmatter is text like any other."""
    kept = redact_text(text.replace("\0", ""))
    _, source, body = parts_of(kept)
    fields = fields_of(source) if source else {}
    if fields is None:
        fields, body = {}, kept
    content = content_of(body)
    tags = (*listed(fields.get("tags")), *(tag for claim in content.claims for tag in claim.tags))
    named = (*_names(fields.get("aliases")), *_names(fields.get("alias")))
    stem = redact_text(stem_of(path))
    title = _word(fields.get("title")) or stem
    body = block(body.strip(), CONTENT_CHARS)
    # As links may spell them.
    others = (title_of(name) for name in (stem, *named))
    aliases = distinct((one for one in others if title_key(one) != title_key(title)), ALIASES)
    shown = title_of(title) or title_of(path)
    return ParsedNote(
        title=title,
        type=_word(fields.get("type")) or NOTE,
        permalink=_word(fields.get("permalink")).strip("/"),
        tags=distinct(tags, TAGS),
        metadata={name: value for name, value in fields.items() if name not in STANDARD},
        body=body,
        suspicion=suspicion_once(f"{shown}\n{body}"),
        content=replace(content, aliases=aliases),
        created_ms=_time(fields.get("created")),
        updated_ms=_time(fields.get("modified")),
    )


def _time(said: Field | None) -> int | None:
    # One without a zone is UTC.
    at_ms = iso_ms(said) if isinstance(said, str) and _DAY.match(said) else None
    return None if at_ms is None else max(0, at_ms)


def listed(value: Field | None) -> tuple[str, ...]:
    """Return tags as somebody wrote them: a list, or words parted by commas; `#` left out."""
    spelled = (name.removeprefix("#").strip() for name in _names(value))
    return tuple(dict.fromkeys(filter(None, spelled)))


def _names(value: Field | None) -> list[str]:
    names = value.split(",") if isinstance(value, str) else value or ()
    return [name.strip() for name in names if isinstance(name, str)]


def note_item(
    file: NoteFile, note: ParsedNote, *, project_id: int | None, branch: str, commit: str
) -> Item:
    """Return the note of a file, as it is found: a statement, whatever the file says."""
    metadata = orjson.dumps(note.metadata).decode() if note.metadata else ""
    title, body = title_of(note.title) or title_of(file.path), note.body
    tags = tags_of(note.tags)
    # The file's own name is found by the path.
    aliases = (name for name in note.content.aliases if name != stem_of(file.path))
    links = list(acts(body))
    for relation in note.content.relations:
        kind = note_type(relation.kind)
        kind = "wiki" if kind in _BY_ID else kind or "wiki"
        name = relation.target.partition("|")[0].partition("#")[0].removesuffix(".md").strip()
        links.append(Link(kind=kind, title=title_of(name.rpartition("/")[2] or name)))
    return Item(
        id=file.item,
        uuid=item_uuid(f"note-file:{seq_of(file.item)}", file.created_ms),
        kind="note",
        type=note_type(note.type) or NOTE,
        title=title,
        subtitle=one_line(file.path, 200),
        narrative=body,
        concepts=distinct((*tags, *aliases), TAGS + ALIASES),
        links=tuple(links[:LINKS]),
        project_id=project_id,
        author="person",
        scope="team" if project_id is None else "project",
        layer="state",
        category=label_of(file.path.partition("/")[0]) if "/" in file.path else "",
        tags=tags,
        suspicion=note.suspicion,
        metadata=metadata if len(metadata) <= METADATA_CHARS else "",
        file=f"{file.folder}/{file.path}",
        branch=branch,
        commit=commit,
        discovery_tokens=-(-len(body) // 4),
        created_ms=file.created_ms,
        updated_ms=max(file.mtime_ns // 1_000_000, file.created_ms),
    )


def _word(value: Field | None) -> str:
    return one_line(value, 500) if isinstance(value, str) else ""


MANY = 400
"""Notes for which a process of its own is worth its start, half a second of processor time."""

Text = tuple[str, str]
"""What a file holds, and its path in the note folder."""

_encode = msgspec.msgpack.Encoder().encode
_texts = msgspec.msgpack.Decoder(list[Text]).decode
_notes = msgspec.msgpack.Decoder(list[ParsedNote]).decode


class NoteParser:
    """Parses one batch of notes after the other, in a process if there are many (`count`)."""

    def __init__(self, count: int) -> None:
        self._process = ChildProcess(__name__, what="parses notes")
        self._asked: list[Text] = []
        if count >= MANY:
            self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def begin(self, texts: Sequence[Text]) -> None:
        """Begin to parse a batch; the one before has to be `finished`."""
        self._asked = list(texts)
        if texts:
            self._process.send(_encode(texts))

    def finish(self) -> list[ParsedNote]:
        """Return the notes of the batch that was begun, in its order, once they are parsed."""
        if not self._asked:
            return []
        answer = self._process.receive()
        return _notes(answer) if answer else [parsed(*text) for text in self._asked]


# --- in the process ------------------------------------------------------------------------------


def main() -> None:
    """Write parsed notes to standard output, as standard input asks."""
    serve(lambda request: [_encode([parsed(*text) for text in _texts(request)])])


RACY_NS = 100_000_000
"""A file that is younger when it is read may change again without another time."""


class ReadFile(NamedTuple):
    """A file as it was read; `note` is None if its bytes are those that the store knows."""

    path: str
    stat: FileStat
    checksum: str
    note: ParsedNote | None


class Batch:
    """The files of one transaction."""

    def __init__(self, writer: Writer, root: str, *, now_ms: int) -> None:
        self._writer = writer
        self._root = root
        self._now_ms = now_ms
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
        embedder: Embedder | None,
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
        put_embedded(self._writer, items, embedder)
        self._writer.restamp_note_files(
            [self._stamped(self._chosen[each.path], each) for each in read if not each.note]
        )
        self.changed, self.gone = len(made), len(lost)

    def _recognise(self, read: Sequence[ReadFile]) -> None:
        new = {each.path: each.checksum for each in read}
        living = {file.path: file for file in self._known if file.gone_ms is None}
        gone = [file for file in self._known if file.gone_ms is not None]
        # Not there any more, or it holds something else: two may have changed names.
        away = [
            file
            for file in living.values()
            if new.get(file.path, file.checksum) != file.checksum
            or (file.path not in new and not os.path.lexists(f"{self._root}/{file.path}"))
        ]
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
            base = wanted or permalink_of(each.path) or f"note-{item}"
            number, permalink = 0, base
            while permalinks.get(permalink, item) != item or self._is_used(permalink, item):
                number += 1
                permalink = f"{base}-{number}"
            permalinks[permalink] = item
            mtime_ms = each.stat.mtime_ns // 10**6
            found_ms = before.created_ms if before else min(self._now_ms, mtime_ms)
            file = NoteFile(
                item=item,
                folder=self._root,
                path=each.path,
                permalink=permalink,
                title=each.note.title,
                type=each.note.type,
                checksum=each.checksum,
                created_ms=found_ms if each.note.created_ms is None else each.note.created_ms,
                updated_ms=each.note.updated_ms or mtime_ms,
            )
            made.append((self._stamped(file, each), each.note))
        return made

    def _is_used(self, permalink: str, item: int) -> bool:
        known = self._writer.note_files_like(
            self._root, paths=(), checksums=(), permalinks=[permalink]
        )
        return any(file.gone_ms is None and file.item != item for file in known)

    def _stamped(self, file: NoteFile, read: ReadFile) -> NoteFile:
        size_bytes, mtime_ns, ctime_ns = read.stat
        is_racy = self._now_ms * 10**6 - ctime_ns < RACY_NS
        return replace(
            file, size_bytes=size_bytes, mtime_ns=mtime_ns, ctime_ns=0 if is_racy else ctime_ns
        )


def put_gone(writer: Writer, files: Sequence[NoteFile], *, now_ms: int) -> None:
    """Store that files are gone: their text goes; ids and permalinks stay, if they come back."""
    found = [writer.item(file.item, deleted=True) for file in files]
    writer.put_note_files([(replace(file, gone_ms=now_ms), NoteFileContent()) for file in files])
    lists = dict.fromkeys(("concepts", "links", "tags", "validity"), ())
    texts = dict.fromkeys(("narrative", "metadata", "suspicion"), "")
    fields = {**lists, **texts, "enrichment": None, "deleted_ms": now_ms}
    writer.put_items(replace(item, **fields) for item in found if item)
