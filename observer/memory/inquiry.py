"""Why a piece of code is as it is: git's answer, and what the memory knows behind it."""

from __future__ import annotations

from pathlib import PurePosixPath

from observer.capture.project import known_at
from observer.capture.repository.blame import authors_here, blamed, placed, touched
from observer.events import Value
from observer.filters import Filters
from observer.memory.pointing import Pointed, pointed
from observer.model import Item
from observer.recall.language import quoted
from observer.recall.why import Change, Piece, story
from observer.store.interface import Reader

COMMITS = 5
"""Newest commits behind a piece that are told."""
NOTES = 5

_NO_PROJECT = 0


class Why(Value):
    """What is behind a piece of code; `changes` newest first, `left_out` older ones.

    `project` is empty where the memory knows nothing of the repository. `notes` name the piece.
    """

    piece: Pointed
    project: str = ""
    changes: tuple[Change, ...] = ()
    notes: tuple[Item, ...] = ()
    left_out: int = 0


def why(reader: Reader, target: str, folder: str, *, owner: str) -> Why:
    """Answer for a target as `pointing.pointed` reads it.

    Raises:
        BadInput, NotFound, Ambiguous: what is pointed at; see `pointing.pointed`.
    """
    at = pointed(target, folder)
    own = authors_here(at.root)
    if at.first:
        origins = blamed(at.root, at.path, first=at.first, last=at.last)
        told = [placed(at.root, origin, own) for origin in origins[:COMMITS]]
    else:
        origins = told = touched(at.root, at.path, limit=COMMITS)
    project = known_at(at.root, reader.projects())
    project_id = project.id if project else _NO_PROJECT
    piece = Piece(project_id=project_id, path=at.path, symbol=at.symbol, owner=owner, authors=own)
    return Why(
        piece=at,
        project=project.name if project else "",
        changes=tuple(story(reader, piece, told)),
        notes=tuple(_notes(reader, piece)),
        left_out=len(origins[COMMITS:]),
    )


def _notes(reader: Reader, piece: Piece) -> list[Item]:
    """Return the newest notes that name the definition, or the file."""
    name = piece.symbol.rpartition(".")[2] or PurePosixPath(piece.path).name
    about = Filters(
        project_id=piece.project_id, with_global=True, kinds=("note",), owner=piece.owner
    )
    ids = reader.match(quoted(name), about, limit=NOTES)
    return [item for item in reader.items(ids) if about.admits(item)]
