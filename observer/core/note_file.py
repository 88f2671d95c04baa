"""Notes that are kept as Markdown files: where a file is, and what its lines state.

Times are integer UTC milliseconds (`*_ms`).
"""

from __future__ import annotations

from observer.core.value import Value


class Claim(Value):
    """One statement; its text contains its `tags` as `#tag`, but not its `context`.

    `category` is empty where the line names none.
    """

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

    `item` is the id of the note. `folder` is the absolute path of its note folder, `path` the
    file's inside it, with forward slashes. `permalink` is unique in the folder and stays when the
    file moves. `checksum` is the SHA-256 of the file's bytes, as hex; it is empty where the note
    was lost from the store (a rebuild, a restored backup), so that the file is read again.
    `gone_ms` is since when the file is missing, None while it is there.
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
    """What a note states; all without secrets, as it is stored.

    `aliases` are its other names: those of the frontmatter, and its file's where the title differs.
    """

    claims: tuple[Claim, ...] = ()
    relations: tuple[Relation, ...] = ()
    aliases: tuple[str, ...] = ()
