"""The contract of a store, continued: notes that are kept as files.

The files are the truth: what stands here beside ids and permalinks is found by reading them anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from observer.core.model import title_key
from observer.core.note_file import Claim, NoteFile, NoteFileContent, Relation


def target_key(target: str) -> str:
    """Return what the target of a relation is looked up by: no alias, no heading, no `.md`.

    >>> target_key("Guides/Set up#Linux|the guide")
    'guides/set up'
    """
    return title_key(target.partition("|")[0].partition("#")[0].strip().removesuffix(".md"))


class NoteFileReader(Protocol):
    """Reads of note files. Files that are gone are left out where nothing else is said."""

    def noted_folders(self) -> Mapping[str, int]:
        """Return how many notes each note folder has; those without any are left out."""

    def note_files(self, folder: str) -> list[NoteFile]:
        """Return the files of a note folder, by path."""

    def note_files_of(self, items: Iterable[int]) -> Mapping[int, NoteFile]:
        """Return the files of notes by id; other items, and files that are gone, are left out."""

    def note_file_at(self, folder: str, path: str) -> NoteFile | None:
        """Return the file at a path of a note folder."""

    def note_files_called(self, name: str, *, folder: str | None = None) -> list[NoteFile]:
        """Return files by permalink, path (with or without `.md`) or name, without fuzziness.

        In one folder or in all, those that match by permalink first, then by path, by title, by
        alias; equals by path. Titles and aliases are compared by `model.title_key`.
        """

    def note_files_spelled(self, name: str, *, folder: str) -> list[NoteFile]:
        """Return files of a folder whose title or alias is spelled alike, by path.

        Compared by `model.spelling_key`.
        """

    def frontmatter_of(self, items: Iterable[int]) -> Mapping[int, tuple[tuple[str, ...], str]]:
        """Return the tags of notes by id, and their other fields as JSON, empty without any.

        Items that are not in a file, or not there any more, are left out.
        """

    def aliases_of(self, items: Iterable[int]) -> Mapping[int, Sequence[str]]:
        """Return the other names of notes by id, in their order; without any: left out."""

    def note_files_like(
        self,
        folder: str,
        *,
        paths: Iterable[str],
        checksums: Iterable[str],
        permalinks: Iterable[str],
    ) -> list[NoteFile]:
        """Return the files of a folder, gone ones too, of which one of these is known."""

    def claims_of(self, items: Iterable[int]) -> Mapping[int, Sequence[Claim]]:
        """Return the claims of notes by id, in their order; notes without any are left out."""

    def relations_of(self, items: Iterable[int]) -> Mapping[int, Sequence[Relation]]:
        """Return the relations of notes by id, in their order; notes without any are left out."""

    def relations_to(self, note: NoteFile) -> list[tuple[int, Relation]]:
        """Return the relations of notes of its folder that name a note, with the ids of those.

        A target names a note by title, alias, path or permalink, compared by `target_key`.
        """


class NoteFileWriter(Protocol):
    """Changes of note files."""

    def reserve_seqs(self, count: int) -> int:
        """Return the first of so many `seq` that no event will have: ids for notes from files."""

    def put_note_files(self, files: Sequence[tuple[NoteFile, NoteFileContent]]) -> None:
        """Insert or replace files by their items, each with what its lines state.

        They may take over each other's paths and permalinks.
        """

    def restamp_note_files(self, files: Iterable[NoteFile]) -> None:
        """Replace the size and the times of files."""
