"""Why a piece of code is as it is: git's answer, and what the store knows behind it.

A target is ``FILE``, ``FILE:LINE``, ``FILE:FIRST-LAST`` or ``FILE::NAME``, as it is on the disk.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from observer.code.languages import language_of
from observer.code.lines import Symbol
from observer.code.outline import outline
from observer.core.errors import Ambiguous, BadInput, NotFound
from observer.core.filters import Filters
from observer.core.model import Item
from observer.core.value import Value
from observer.git.blame import (
    agent_marks,
    blame_lines,
    file_commits,
    local_authors,
    with_earlier_forms,
)
from observer.git.process import repository_at
from observer.git.repository import ForeignRepository
from observer.projects import detect_place, known_project_at
from observer.search.code_history import CodeChange, CodeTarget, code_change
from observer.search.query import quoted
from observer.search.recent_sessions import FailingCheck, RecentSessions
from observer.store.reader import StoreReader

COMMITS = 5
"""Most commits behind a target, the newest."""
NOTES = 5


class CodeAnswer(Value):
    """What is behind a piece of code; `changes` newest first, `left_out` older ones.

    `project` is empty where nothing is known of it. `notes` name the piece, red checks its file.
    """

    piece: LocatedCode
    project: str = ""
    changes: tuple[CodeChange, ...] = ()
    notes: tuple[Item, ...] = ()
    red: tuple[FailingCheck, ...] = ()
    left_out: int = 0


def why(reader: StoreReader, target: str, folder: str, *, owner: str, now_ms: int) -> CodeAnswer:
    """Answer for a target as `locate` reads it.

    Raises: BadInput, NotFound, Ambiguous (what is pointed at; see `locate`).
    """
    at = locate(target, folder)
    own = local_authors(at.root)
    if at.first:
        origins = blame_lines(at.root, at.path, first=at.first, last=at.last)
    else:
        origins = file_commits(at.root, at.path, limit=COMMITS)
    commits = with_earlier_forms(at.root, origins[:COMMITS], own)
    project = known_project_at(at.root, reader.projects())
    project_id = project.id if project else 0
    piece = CodeTarget(
        project_id=project_id, path=at.path, symbol=at.symbol, owner=owner, authors=own
    )
    name = piece.symbol.rpartition(".")[2] or PurePosixPath(piece.path).name
    about = Filters(project_id=project_id, with_global=True, kinds=("note",), owner=owner)
    ids = reader.match(quoted(name), about, limit=NOTES)
    return CodeAnswer(
        piece=at,
        project=project.name if project else "",
        changes=tuple(
            code_change(reader, piece, one, agent_marks(at.root, one)) for one in commits
        ),
        notes=tuple(item for item in reader.items(ids) if about.admits(item)),
        red=tuple(RecentSessions(reader, project_id).red(now_ms=now_ms, about=at.path)),
        left_out=len(origins[COMMITS:]),
    )


MOST_BYTES = 4 << 20
"""A larger file is no source that somebody reads."""
NAMED = 8
"""Most names that an error offers."""

_LINES = re.compile(r"(?P<file>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?", re.DOTALL)


class LocatedCode(Value):
    """A piece of a file in a worktree. Without lines, all of the file is meant.

    `path` is relative to `root`. Lines count from 1 and include the last.
    """

    root: str
    path: str
    symbol: str = ""
    first: int = 0
    last: int = 0


def locate(target: str, folder: str) -> LocatedCode:
    """Resolve what somebody pointed at from an absolute folder; a column is ignored.

    Raises: BadInput (no file is named, or the lines are none), NotFound (no such file in a git
    worktree, or name in it), Ambiguous (several have that name; the hint lists them).
    """
    name, _, symbol = target.partition("::")
    if not name.strip() or "\0" in target:
        raise BadInput("no file is named", hint="give FILE, FILE:LINE or FILE::NAME")
    lines = None if symbol or _exists(Path(folder, name)) else _LINES.fullmatch(name)
    if lines and not _exists(Path(folder, lines["file"])):
        lines = _LINES.fullmatch(lines["file"]) or lines  # what stood behind is a column
    file = Path(folder, lines["file"] if lines else name)
    root, path = _in_tree(file)
    if symbol:
        found = _definition(file, path, symbol)
        return LocatedCode(
            root=root, path=path, symbol=found.path, first=found.first_line, last=found.last_line
        )
    if not lines:
        return LocatedCode(root=root, path=path)
    first = int(lines["first"])
    last = int(lines["last"] or first)
    if not 1 <= first <= last:
        raise BadInput(f"no lines {first} to {last}", hint="lines count from 1, the lower first")
    known = outline(_text(file), language_of(path))
    inside = [each for each in known if each.first_line <= first <= each.last_line]
    around = min(inside, key=lambda each: each.last_line - each.first_line).path if inside else ""
    return LocatedCode(root=root, path=path, symbol=around, first=first, last=last)


def _exists(file: Path) -> bool:
    return os.path.exists(file)  # noqa: PTH110 - Path.exists raises where a name is too long


def _in_tree(file: Path) -> tuple[str, str]:
    try:
        real = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        before, _, symbol = file.name.rpartition(":")
        there = f"{before}::{symbol} names code in it"
        is_file = before and _exists(file.with_name(before))
        hint = there if is_file else "name one that is there now"
        raise NotFound(f"no file {file}", hint=hint) from error
    place = detect_place(str(real.parent))
    if not place.git:
        try:
            repository_at(str(real.parent))
        except ForeignRepository:
            raise
        except NotFound:
            pass  # said below
    if not place.git or not real.is_file():
        raise NotFound(f"{file} is not a file of a git repository", hint="name a committed file")
    return place.root, real.relative_to(place.root).as_posix()


def _definition(file: Path, path: str, name: str) -> Symbol:
    known = outline(_text(file), language_of(path))
    exact = [each for each in known if each.path == name]
    found = exact or [each for each in known if each.name == name.rpartition(".")[2]]
    if len(found) == 1 or exact:
        return found[0]
    if found:
        raise Ambiguous(
            f"{path} defines {name!r} {len(found)} times",
            hint="one of: " + ", ".join(f"{path}::{each.path}" for each in found[:NAMED]),
        )
    names = ", ".join(each.path for each in known[:NAMED])
    raise NotFound(f"{path} defines no {name!r}", hint=f"it defines {names or 'no names'}")


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise NotFound(f"cannot read {file}: {error.strerror}") from error
