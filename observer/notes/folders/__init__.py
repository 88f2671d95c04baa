"""Note folders: notes that people keep as Markdown files, in sync with the store."""

from observer.notes.folders.folders import NoteFolder
from observer.notes.folders.note_files import FileText, NoteFiles

__all__ = ["FileText", "NoteFiles", "NoteFolder"]
