"""What of a session's work is committed: its files, and the commits as its summary names them.

Part of interpretation (step 6), pure. What git replaced or dropped is named no more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec.structs import replace

from observer.core.text import is_within, one_line
from observer.observations import open_steps
from observer.observations.git_commands import GitOperation, Scope
from observer.observations.session_state import FileState, SessionState, added

HASH_CHARS = 10
STASHES = 8
"""Entries of git's stash that a session keeps in mind; the oldest go."""
_OPENING = " ("


def commit_text(subject: str, commit: str) -> str:
    """Return how a commit is said."""
    return f"{one_line(subject, 200)}{_OPENING}{one_line(commit, 64)[:HASH_CHARS]})"


def subject_of(saying: str) -> str:
    """Return the subject of a commit that is said so."""
    return saying.rpartition(_OPENING)[0]


def with_rewritten(sayings: tuple[str, ...], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return what is said once commits were replaced: each old one under its new hash, once."""
    became = {old[:HASH_CHARS]: new for old, new in pairs}
    known = {hash_of(one) for one in sayings}
    told: dict[str, str] = {}
    for one in sayings:
        new = became.get(hash_of(one), "")
        if new[:HASH_CHARS] not in known:
            shown = commit_text(subject_of(one), new) if new else one
            told.setdefault(hash_of(shown), shown)
    return tuple(told.values())


def without_undone(sayings: tuple[str, ...], to: str) -> tuple[str, ...]:
    """Return what is left once git went back: ``~2`` commits, or to the commit of a hash."""
    if to.startswith("~"):
        return sayings[: max(0, len(sayings) - int(to[1:]))]
    found = [place for place, one in enumerate(sayings) if _is(hash_of(one), to)]
    return sayings[: found[-1] + 1] if found else sayings


def with_commit(state: SessionState, saying: str, paths: Iterable[str]) -> SessionState:
    """Return the state after a commit: its files are clean, the steps that it names done."""
    clean = set(paths)
    files = {
        path: _taken_in(touched) if path in clean else touched
        for path, touched in state.files.items()
    }
    return replace(
        state,
        files=files,
        commits=added(state.commits, saying),
        achieved=(),
        steps=open_steps.without_done(state.steps, (f"{subject_of(saying)} commit",)),
    )


def with_later_commit(state: SessionState, saying: str, paths: Iterable[str]) -> SessionState:
    """Return the state after a commit that somebody else made of the session's changes."""
    clean = with_commit(state, "", paths)
    return replace(
        clean,
        later=added(state.later, saying),
        achieved=state.achieved,
        steps=open_steps.without_done(state.steps, (subject_of(saying),)),
    )


def uncommitted_files(state: SessionState) -> frozenset[str]:
    """Return the files of the project that a session changed, and no commit has taken in."""
    return frozenset(
        path
        for path, touched in state.files.items()
        if touched.is_dirty and not path.startswith("/")
    )


def with_uncommitted(state: SessionState, uncommitted: Collection[str]) -> SessionState:
    """Return the state after git was asked: what it did not name is as the last commit has it."""
    files = {
        path: replace(touched, is_dirty=False, is_staged=False)
        if touched.is_dirty and path not in uncommitted and not touched.is_aside
        else touched
        for path, touched in state.files.items()
    }
    return replace(state, files=files)


def with_staged(state: SessionState, paths: Collection[str], *, with_new: bool) -> SessionState:
    """Note what was put into git's index; no paths are all of them."""
    files = {
        path: replace(touched, is_staged=True)
        if touched.is_dirty and (with_new or not _is_new(touched)) and is_within(path, paths)
        else touched
        for path, touched in state.files.items()
    }
    return replace(state, files=files)


def with_operation(state: SessionState, act: GitOperation) -> SessionState:
    """Return the state after git took changes back, or moved them to or from its stash.

    No paths are all. Other deeds of git's change nothing.
    """
    if act.deed == "aside":
        return _set_aside(state, act)
    if act.deed in ("back", "drop"):
        return _unstashed(state, act)
    change = _DEEDS.get(act.deed)
    if change is None:
        return state
    files = {
        path: change(touched) if is_within(path, act.paths) else touched
        for path, touched in state.files.items()
    }
    return replace(state, files=files)


def _set_aside(state: SessionState, act: GitOperation) -> SessionState:
    entry = [
        path
        for path, touched in state.files.items()
        if is_within(path, act.paths) and _goes(touched, act.scope)
    ]
    moved = {path: replace(state.files[path], is_aside=True, is_staged=False) for path in entry}
    return replace(
        state,
        files=state.files | moved,
        stash=(*state.stash, tuple(entry))[-STASHES:],
        is_aside=True,
    )


def _goes(touched: FileState, scope: Scope) -> bool:
    """Return True if changes of a file go to git's stash: of new files only where git has them."""
    if not touched.is_dirty or touched.is_aside:
        return False
    if scope in ("staged", "unstaged"):
        return touched.is_staged == (scope == "staged")
    return scope == "new" or touched.is_staged or not _is_new(touched)


def _unstashed(state: SessionState, act: GitOperation) -> SessionState:
    """Return the state after an entry of git's stash came back, or was thrown away."""
    number = int(act.to) if act.to.isdecimal() else 0
    place = len(state.stash) - 1 - number
    gone = [entry for at, entry in enumerate(state.stash) if act.to == "all" or at == place]
    others = (entry for at, entry in enumerate(state.stash) if act.to != "all" and at != place)
    left = state.stash if act.keeps else tuple(others)
    held = {path for entry in left for path in entry}
    change = _back if act.deed == "back" else _dropped
    moved = {
        path: change(state.files[path])
        for entry in gone
        for path in entry
        if path in state.files and (act.deed == "back" or path not in held)
    }
    is_aside = state.is_aside and number > 0
    return replace(state, files=state.files | moved, stash=left, is_aside=is_aside)


def with_index_committed(state: SessionState) -> SessionState:
    """Note that a commit took in what git's index held."""
    files = {
        path: _taken_in(touched) if touched.is_staged else touched
        for path, touched in state.files.items()
    }
    return replace(state, files=files)


def _taken_in(touched: FileState) -> FileState:
    clean = replace(touched, is_dirty=False, is_staged=False, is_aside=False, kept=None)
    return replace(clean, kept=clean)


def _is_new(touched: FileState) -> bool:
    return touched.fate == "created" and touched.kept is None


def _taken_back(touched: FileState) -> FileState:
    before = touched.kept or FileState(is_undone=True)
    return replace(before, reads=touched.reads, writes=touched.writes, kept=touched.kept)


def hash_of(saying: str) -> str:
    """Return the first characters of the name of a commit that is said so."""
    return saying.rpartition(_OPENING)[2].removesuffix(")")


def _is(commit: str, named: str) -> bool:
    return bool(named) and commit.startswith(named[:HASH_CHARS])


def _restored(touched: FileState) -> FileState:
    is_there = touched.is_dirty and not touched.is_aside and not _is_new(touched)
    return _taken_back(touched) if is_there else touched


def _cleaned(touched: FileState) -> FileState:
    is_there = touched.is_dirty and not touched.is_aside and _is_new(touched)
    return _taken_back(touched) if is_there else touched


def _back(touched: FileState) -> FileState:
    return replace(touched, is_aside=False) if touched.is_aside else touched


def _dropped(touched: FileState) -> FileState:
    return _taken_back(touched) if touched.is_aside else touched


_DEEDS: Mapping[str, Callable[[FileState], FileState]] = {
    "restore": _restored,
    "reset": _restored,
    "clean": _cleaned,
}
"""What each of git's deeds makes of a file that was changed."""
