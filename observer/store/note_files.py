"""Notes that are kept as files, which are the truth: all but ids and permalinks is read anew.

Files that are gone are left out where nothing else is said. Titles and aliases are compared by
`model.title_key`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from observer.core.model import spelling_key, title_key
from observer.core.note_file import Claim, NoteFile, NoteFileContent, Relation
from observer.store.connection import Reads
from observer.store.rows import AMONG, among, built, json_text, put, to_strings

_T = TypeVar("_T")


def target_key(target: str) -> str:
    """Return what the target of a relation is looked up by: no alias, no heading, no `.md`.

    >>> target_key("Guides/Set up#Linux|the guide")
    'guides/set up'
    """
    return title_key(target.partition("|")[0].partition("#")[0].strip().removesuffix(".md"))


_COLUMNS = ", ".join(NoteFile.__struct_fields__)
_PUT = put("note_file", f"{_COLUMNS}, title_key")
_PUT_CLAIM = put("note_claim", "item, place, category, text, tags, context")
_PUT_RELATION = put("note_relation", "item, place, kind, target, context, target_key")
_PUT_ALIAS = put("note_alias", "item, place, name, title_key")
_RELATION = "kind, target, context"
_STORED = "item INDEXED BY item_frontmatter WHERE file <> '' AND deleted_ms IS NULL"
"""The notes of files, by an index that holds no texts: a row of `item` is a page or two."""
_SELECT = _COLUMNS.replace(
    "checksum",
    f"CASE WHEN EXISTS (SELECT 1 FROM {_STORED} AND id = item) THEN checksum ELSE '' END"
    " AS checksum",
)
_CALLED = f"""
SELECT {_SELECT},
    CASE WHEN permalink = ?1 THEN 0 WHEN path IN (?1, ?1 || '.md') THEN 1
        WHEN title_key = ?2 THEN 2 ELSE 3 END AS rank
FROM note_file
WHERE gone_ms IS NULL AND (?3 IS NULL OR folder = ?3)
    AND (permalink = ?1 OR path IN (?1, ?1 || '.md') OR title_key = ?2
        OR item IN (SELECT item FROM note_alias WHERE title_key = ?2))
ORDER BY rank, folder, path
"""
_NAMES = """
SELECT item, title_key FROM note_file
WHERE folder = ?1 AND gone_ms IS NULL AND instr(title_key, ?2)
UNION ALL SELECT item, note_alias.title_key FROM note_alias JOIN note_file USING (item)
WHERE instr(note_alias.title_key, ?2) AND folder = ?1 AND gone_ms IS NULL
"""
_LIKE = " UNION ".join(
    f"SELECT item FROM note_file WHERE folder = ?1 AND {column} {AMONG.replace('?', f'?{number}')}"
    for number, column in enumerate(("path", "checksum", "permalink"), start=2)
)
"""Each part by an index of its own: joined by OR, all files of the folder are read."""


class NoteFileReads(Reads):
    """Reads of note files."""

    def noted_folders(self) -> Mapping[str, int]:
        """Return how many notes each note folder has; those without any are left out."""
        there = "FROM note_file WHERE gone_ms IS NULL"
        return dict(self._rows(f"SELECT folder, count(*) {there} GROUP BY folder"))

    def note_files(self, folder: str) -> list[NoteFile]:
        """Return the files of a note folder, by path."""
        return self._note_files("folder = ? AND gone_ms IS NULL", (folder,))

    def note_files_of(self, items: Iterable[int]) -> Mapping[int, NoteFile]:
        """Return the files of notes by id; other items, and files that are gone, are left out."""
        found = self._note_files(f"item {AMONG} AND gone_ms IS NULL", (among(items),))
        return {file.item: file for file in found}

    def note_file_at(self, folder: str, path: str) -> NoteFile | None:
        """Return the file at a path of a note folder."""
        found = self._note_files("folder = ? AND path = ? AND gone_ms IS NULL", (folder, path))
        return next(iter(found), None)

    def note_files_called(self, name: str, *, folder: str | None = None) -> list[NoteFile]:
        """Return files by permalink, path (with or without `.md`), title, alias; equals by path.

        Those of one folder, or of all.
        """
        rows = self._rows(_CALLED, (name, title_key(name), folder))
        return [built(NoteFile, row[:-1]) for row in rows]

    def note_files_spelled(self, name: str, *, folder: str) -> list[NoteFile]:
        """Return files of a folder with a title or alias of the same `spelling_key`, by path."""
        key = spelling_key(name)
        longest = max(key.split("-"), key=len)
        rows = self._rows(_NAMES, (folder, longest))
        named = [item for item, each in rows if spelling_key(each) == key]
        return self._note_files(f"item {AMONG}", (among(named),))

    def note_files_like(
        self,
        folder: str,
        *,
        paths: Iterable[str],
        checksums: Iterable[str],
        permalinks: Iterable[str],
    ) -> list[NoteFile]:
        """Return the files of a folder, gone ones too, of which one of these is known."""
        known = (among(paths), among(checksums), among(permalinks))
        return self._note_files(f"item IN ({_LIKE})", (folder, *known))

    def frontmatter_of(self, items: Iterable[int]) -> Mapping[int, tuple[tuple[str, ...], str]]:
        """Return tags, and other fields as JSON, "" without any, of notes of files by id."""
        sql = f"SELECT id, tags, metadata FROM {_STORED} AND id {AMONG}"
        return {row[0]: (to_strings(row[1]), row[2]) for row in self._rows(sql, (among(items),))}

    def aliases_of(self, items: Iterable[int]) -> Mapping[int, Sequence[str]]:
        """Return the other names of notes by id, in their order; without any: left out."""
        return self._listed("name", "note_alias", items, str)

    def claims_of(self, items: Iterable[int]) -> Mapping[int, Sequence[Claim]]:
        """Return the claims of notes by id, in their order; notes without any are left out."""
        return self._listed(
            "category, text, tags, context",
            "note_claim",
            items,
            lambda category, text, tags, context: Claim(
                category=category, text=text, tags=to_strings(tags), context=context
            ),
        )

    def relations_of(self, items: Iterable[int]) -> Mapping[int, Sequence[Relation]]:
        """Return the relations of notes by id, in their order; notes without any are left out."""
        return self._listed(_RELATION, "note_relation", items, lambda *row: built(Relation, row))

    def _listed(
        self, columns: str, table: str, items: Iterable[int], make: Callable[..., _T]
    ) -> Mapping[int, Sequence[_T]]:
        found: defaultdict[int, list[_T]] = defaultdict(list)
        for item, *values in self._rows(
            f"SELECT item, {columns} FROM {table} WHERE item {AMONG} ORDER BY item, place",
            (among(items),),
        ):
            found[item].append(make(*values))
        return found

    def relations_to(self, note: NoteFile) -> list[tuple[int, Relation]]:
        """Return the relations in its folder that name a note, each with the id of its own note.

        By title, alias, path or permalink, compared by `target_key`.
        """
        aliases = self.aliases_of([note.item]).get(note.item, ())
        names = {note.title, note.permalink, note.path, note.path.rpartition("/")[2], *aliases}
        rows = self._rows(
            f"SELECT item, {_RELATION} FROM note_relation JOIN note_file USING (item)"
            f" WHERE target_key {AMONG} AND folder = ? AND gone_ms IS NULL ORDER BY item, place",
            (among(sorted(map(target_key, names))), note.folder),
        )
        return [(item, built(Relation, values)) for item, *values in rows]

    def _note_files(self, where: str, values: Sequence[object]) -> list[NoteFile]:
        sql = f"SELECT {_SELECT} FROM note_file WHERE {where} ORDER BY path"
        return [built(NoteFile, row) for row in self._rows(sql, values)]


class NoteFileWrites(NoteFileReads):
    """Changes of note files."""

    def put_note_files(self, files: Sequence[tuple[NoteFile, NoteFileContent]]) -> None:
        """Insert or replace files by their items, each with what its lines state."""
        ids = among([file.item for file, _ in files])
        # So that two files may change names with each other.
        self._connection.execute(f"UPDATE note_file SET gone_ms = 0 WHERE item {AMONG}", (ids,))
        for table in ("note_claim", "note_relation", "note_alias"):
            self._connection.execute(f"DELETE FROM {table} WHERE item {AMONG}", (ids,))
        many = self._connection.executemany
        many(_PUT, ((*msgspec.structs.astuple(file), title_key(file.title)) for file, _ in files))
        many(
            _PUT_CLAIM,
            (
                (file.item, place, one.category, one.text, json_text(one.tags), one.context)
                for file, content in files
                for place, one in enumerate(content.claims)
            ),
        )
        many(
            _PUT_RELATION,
            (
                (file.item, place, one.kind, one.target, one.context, target_key(one.target))
                for file, content in files
                for place, one in enumerate(content.relations)
            ),
        )
        many(
            _PUT_ALIAS,
            (
                (file.item, place, name, title_key(name))
                for file, content in files
                for place, name in enumerate(content.aliases)
            ),
        )

    def restamp_note_files(self, files: Iterable[NoteFile]) -> None:
        """Replace the size and the times of files."""
        self._connection.executemany(
            "UPDATE note_file SET size_bytes = ?, mtime_ns = ?, ctime_ns = ? WHERE item = ?",
            ((each.size_bytes, each.mtime_ns, each.ctime_ns, each.item) for each in files),
        )
