"""Changes of files that belong to somebody else: planned as values, shown, then made or not at all.

A plan is computed without touching anything. `apply` checks that every file is still what the plan
saw, copies each to the backups, and replaces it in one step; when a write fails, those before it
are taken back.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import stat
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from observer.core.errors import ConfigInvalid, remedy
from observer.core.paths import flush, make_private, read_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """One file before and after; None means that it is not there.

    `mode` is None to keep the file's own (0644 for a new one). `is_ours` marks copies of our own
    files, which need no backup and no line-by-line diff.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    is_ours: bool = False

    @property
    def is_change(self) -> bool:
        """Whether anything would be written: content, or permission bits."""
        if self.before != self.after:
            return True
        return self.mode is not None and self.after is not None and self.mode != mode_of(self.path)


def read(path: Path) -> bytes | None:
    """Return a file's bytes, or None if there is none.

    Raises:
        ConfigInvalid: there is something else, or it cannot be read.
    """
    try:
        return read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigInvalid(
            f"{path} cannot be read: {error.strerror}", hint="make it a readable file, then repeat"
        ) from error


def mode_of(path: Path) -> int | None:
    """Return a file's permission bits, or None if there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def diff(edits: Iterable[FileEdit]) -> str:
    """Return what the edits would change, as a unified diff; our own files only by name and size.

    Empty if nothing would change.
    """
    return "".join(_shown(edit) for edit in edits if edit.is_change)


def apply(edits: Sequence[FileEdit], backups: Path, *, at_ms: int) -> list[Path]:
    """Make the edits, all or none, and return the backups made, named for `at_ms`.

    Raises:
        ConfigInvalid: a file was changed meanwhile or cannot be written; nothing is changed.
    """
    changes = [edit for edit in edits if edit.is_change]
    for edit in changes:
        if read(edit.path) != edit.before:
            raise ConfigInvalid(f"{edit.path} was changed meanwhile", hint="repeat the command")
    done: list[tuple[FileEdit, int | None]] = []
    at_work = backups
    try:
        kept = [_back_up(edit, backups, at_ms) for edit in changes if _has_others_text(edit)]
        for edit in changes:
            at_work = edit.path
            done.append((edit, mode_of(edit.path)))
            _write(edit.path, edit.after, edit.mode)
    except OSError as error:
        _take_back(done)
        do = remedy(error, "make the file and its folder writable")
        raise ConfigInvalid(
            f"{at_work} cannot be written: {error.strerror}",
            hint=f"nothing was changed; {do}, then repeat",
        ) from error
    return kept


def _has_others_text(edit: FileEdit) -> bool:
    return edit.before is not None and not edit.is_ours


def _take_back(done: Sequence[tuple[FileEdit, int | None]]) -> None:
    for edit, mode in reversed(done):
        with contextlib.suppress(OSError):  # the first failure is the one to report
            _write(edit.path, edit.before, mode)


def _shown(edit: FileEdit) -> str:
    if edit.is_ours and edit.after is not None:
        return f"write {edit.path} ({len(edit.after):,} bytes)\n"
    if edit.before == edit.after:
        return f"chmod {edit.mode:o} {edit.path}\n"
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(
            _lines(edit.before),
            _lines(edit.after),
            fromfile="/dev/null" if edit.before is None else str(edit.path),
            tofile="/dev/null" if edit.after is None else str(edit.path),
        )
    )


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)


def digest(content: bytes | None) -> str:
    """Return what stands for a content in the name of a copy."""
    return hashlib.sha256(content or b"").hexdigest()[:16]


def copy_name(path: Path, made: bytes | None) -> str:
    """Return the end of the name of a copy: what was made of the file, and whose copy it is."""
    name = str(path).strip("/").replace("%", "%25").replace("/", "%2F")
    return f"{digest(made)}-{name[-160:]}"


def _back_up(edit: FileEdit, backups: Path, at_ms: int) -> Path:
    copy = make_private(backups) / (
        f"{at_ms}-{digest(edit.before)}-{copy_name(edit.path, edit.after)}"
    )
    _write(copy, edit.before, 0o600)
    return copy


def _write(path: Path, content: bytes | None, mode: int | None) -> None:
    """Replace a file in one step; a symbolic link stays, and what it points to is changed."""
    target = path.resolve()
    if content is None:
        target.unlink(missing_ok=True)
        return
    mode = mode or mode_of(target) or 0o644
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=".observer-", dir=target.parent)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - the handle is open already
            file.write(content)
            file.flush()
            flush(handle)
        Path(draft).chmod(mode)
        Path(draft).replace(target)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
