"""Notes that are kept as Markdown files: where a file is, and what its lines state."""

from __future__ import annotations

from observer.core.value import Value


class Claim(Value):
    """One statement; its text contains its `tags` as `#tag`, but not its `context`."""

    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str = ""


class Relation(Value):
    """A link of a note: `target` as it is written between the brackets, an alias included."""

    kind: str
    target: str
    context: str = ""


class NoteFile(Value):
    """What the store knows of the file of a note, as of the last time it was read.

    `folder` is the absolute path of its note folder, `path` the file's inside it, with forward
    slashes. `permalink` is unique in the folder and stays when the file moves. `checksum` is the
    SHA-256 of the file's bytes, as hex; empty where the store lost the note, so that it is read
    again. `gone_ms` is since when the file is missing, None while it is there.
    """

    item: int
    folder: str
    path: str
    permalink: str
    title: str
    type: str
    checksum: str
    size_bytes: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    created_ms: int = 0
    updated_ms: int = 0
    gone_ms: int | None = None


class NoteFileContent(Value):
    """What a note states, redacted; `aliases` are its other names, of frontmatter and file."""

    claims: tuple[Claim, ...] = ()
    relations: tuple[Relation, ...] = ()
    aliases: tuple[str, ...] = ()
