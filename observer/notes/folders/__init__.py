"""Note folders: notes that people keep as Markdown files, in sync with the store.

`NoteFiles` is the API of this room. The files are the truth: a tool that changes a note changes its
file.
"""

from observer.notes.folders.folders import NoteFolder
from observer.notes.folders.note_files import FileText, NoteFiles

__all__ = ["FileText", "NoteFiles", "NoteFolder"]
