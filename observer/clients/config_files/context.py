"""Changes of somebody else's files: planned as values, shown, then made or not at all.

Our scripts in `<home>/hooks` are copies whose paths never change: clients' files name them.
"""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from observer.core.disk import replace as replace_file
from observer.core.errors import ConfigInvalid, remedy
from observer.core.paths import SHIPPED_HOOKS, Home, flush, make_private, read_plain, working_folder
from observer.core.value import decode_json
from observer.git.launch import absolute_entries


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallContext:
    """Where to install, and what: without `is_wanted`, what is ours is taken out.

    `observer` is the absolute path of our command, `project` a repository that was asked for by
    name, `folder` the working folder; `environ` says where clients keep their files. `tools` names
    toolsets; empty leaves those of an entry. `ctrl_r` None leaves Ctrl-R in shells as it is.
    """

    home: Home
    user_home: Path
    observer: str
    environ: Mapping[str, str]
    folder: Path
    project: Path | None = None
    tools: str = ""
    ctrl_r: bool | None = None
    is_wanted: bool = True

    def place(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else a folder in the user's home."""
        chosen = self.environ.get(variable, "")
        return Path(chosen) if chosen.startswith("/") else self.user_home / default


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """One file before and after, None where it is not there; ours needs no backup and no diff."""

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int | None = None  # the file's own
    is_ours: bool = False

    @property
    def is_change(self) -> bool:
        """Whether anything would be written: content, or permission bits."""
        if self.before != self.after:
            return True
        return self.mode is not None and self.after is not None and self.mode != mode_of(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """What would be written, in which repository (`root`) if any, and what to do besides."""

    edits: tuple[FileEdit, ...]
    notes: tuple[str, ...] = field(default=())
    root: Path | None = None

    @property
    def is_change(self) -> bool:
        """Whether anything would be written."""
        return any(edit.is_change for edit in self.edits)


def current_context(home: Home, *, project: Path | None = None, tools: str = "") -> InstallContext:
    """Return the context of this process; raise ConfigInvalid if there is no observer command."""
    beside = Path(sys.executable).with_name("observer")
    found = (
        str(beside)
        if beside.exists()
        else shutil.which("observer", path=absolute_entries(os.environ.get("PATH", os.defpath)))
    )
    if not found:
        hint = "install the package, then repeat"
        raise ConfigInvalid("no observer command is installed", hint=hint)
    return InstallContext(
        home=home,
        user_home=Path.home(),
        observer=str(Path(found).absolute()),
        environ=dict(os.environ),
        folder=working_folder(),
        project=project.absolute() if project else None,
        tools=tools,
    )


def shipped(sources: Sequence[Path] = SHIPPED_HOOKS) -> Path:
    """Return the folder of the scripts of this version; raise ConfigInvalid if they are missing."""
    for folder in sources:
        if (folder / "post").is_file():
            return folder
    hint = "install observer again"
    raise ConfigInvalid(f"the hook scripts are missing from {sources[0].parent}", hint=hint)


def hook_files(home: Home) -> list[FileEdit]:
    """Return the edits that bring `<home>/hooks` to this version; none if it is there."""
    source = shipped()
    # As git writes a value in quotes.
    post = shlex.quote(str(home.hooks / "post")).replace("\\", r"\\").replace('"', r"\"")
    edits = []
    for script in sorted(path for path in source.rglob("*") if path.is_file()):
        target = home.hooks / script.relative_to(source)
        content = script.read_bytes()
        if script.parent.name == "git" and script.name == "config":
            content = content.replace(b"@POST@", os.fsencode(post))
        mode = 0o700 if content.startswith(b"#!") else 0o600
        edit = FileEdit(
            path=target, before=read_file(target), after=content, mode=mode, is_ours=True
        )
        if edit.is_change:
            edits.append(edit)
    return edits


def command(home: Home, *words: str) -> str:
    """Return the command line, quoted for sh, of one of our scripts: its name, its arguments."""
    script, *arguments = words
    return shlex.join([str(home.hooks / script), *arguments])


def is_ours(home: Home, line: object) -> bool:
    """Return True if a command line in a client's configuration runs one of our scripts."""
    words: list[str] = []
    with suppress(ValueError):
        words = shlex.split(line) if isinstance(line, str) else []
    return bool(words) and words[0].startswith(f"{home.hooks}/")


# --- changes of files ---------------------------------------------------------------------------


def read_file(path: Path) -> bytes | None:
    """Return a file's bytes, or None if there is none; raise ConfigInvalid if it cannot be read."""
    try:
        return read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "make it a readable file, then repeat"
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}", hint=hint) from error


def mode_of(path: Path) -> int | None:
    """Return a file's permission bits, or None if there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def diff(edits: Iterable[FileEdit]) -> str:
    """Return the edits as a unified diff; our own files only by name and size."""
    return "".join(_shown(edit) for edit in edits if edit.is_change)


def apply(edits: Sequence[FileEdit], backups: Path, *, at_ms: int) -> list[Path]:
    """Make all edits or none, return backups made; raise ConfigInvalid for a file in the way."""
    changes = [edit for edit in edits if edit.is_change]
    for edit in changes:
        if read_file(edit.path) != edit.before:
            raise ConfigInvalid(f"{edit.path} was changed meanwhile", hint="repeat the command")
    done: list[tuple[FileEdit, int | None]] = []
    at_work = backups
    try:
        kept = []
        for edit in changes:
            if edit.before is not None and not edit.is_ours:
                name = copy_name(edit.path, edit.after)
                kept.append(make_private(backups) / f"{at_ms}-{digest(edit.before)}-{name}")
                _write(kept[-1], edit.before, 0o600)
        for edit in changes:
            at_work = edit.path
            done.append((edit, mode_of(edit.path)))
            _write(edit.path, edit.after, edit.mode)
    except OSError as error:
        for one, mode in reversed(done):
            with suppress(OSError):  # the first failure is the one to report
                _write(one.path, one.before, mode)
        do = remedy(error, "make the file and its folder writable")
        hint = f"nothing was changed; {do}, then repeat"
        raise ConfigInvalid(f"{at_work} cannot be written: {error.strerror}", hint=hint) from error
    return kept


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


# --- what a file held before we changed it, for as long as nobody else has changed it ------------
#
# A removal cannot know the blanks that an empty list had, or whether it was there: the copy does.


def as_it_was(edit: FileEdit, backups: Path, *, ours: Collection[bytes]) -> FileEdit:
    """Return a removal that gives a file back as it was, if it is still what we made of it.

    A copy that has others of `ours`, one of which is in each of our entries, is passed over.
    """
    if not edit.is_change or edit.before is None:
        return edit
    left = _entries(edit.after, ours)
    for former in _former(edit.path, edit.before, backups):
        if _entries(former, ours) == left:
            return replace(edit, after=former)
    return edit


def _former(path: Path, content: bytes, backups: Path) -> Iterator[bytes]:
    """Yield what a content was made of, and what that was made of, as far as there are copies."""
    seen: set[bytes] = set()
    while content not in seen:
        seen.add(content)
        copies = sorted(backups.glob(f"*-*-{glob.escape(copy_name(path, content))}"))
        former = read_file(copies[-1]) if copies else None
        # Secrets may have been redacted in the copy, and must not be lost in the file.
        if former is None or copies[-1].name.split("-")[1] != digest(former):
            return
        yield former
        content = former


def _entries(content: bytes | None, ours: Collection[bytes]) -> Counter[bytes]:
    lines = (line.strip(b" \t\r,") for line in (content or b"").split(b"\n"))
    return Counter(line for line in lines if any(one in line for one in ours))


# --- folders that an installation made in somebody else's home, which a removal takes away -------


def missing_folders(edits: Iterable[FileEdit]) -> list[Path]:
    """Return the folders that the edits will make, outermost first; nothing is touched."""
    written = [edit.path.resolve() for edit in edits if edit.is_change and edit.after is not None]
    around = {folder for path in written for folder in path.parents if not folder.exists()}
    return sorted(around)


def keep_made(home: Home, folders: Sequence[Path]) -> None:
    """Record folders that were made; those of the home itself go with the home."""
    made = {str(path): "" for path in folders if not path.is_relative_to(home.root)}
    if made:
        replace_file(home.made_folders, msgspec.json.encode(_made(home) | made))


def remove_made(home: Home, edits: Iterable[FileEdit]) -> None:
    """Remove the folders of deleted files that an installation made and that are empty."""
    made = _made(home)
    gone = {
        folder for edit in edits if edit.after is None for folder in edit.path.resolve().parents
    }
    for folder in sorted(gone, reverse=True):
        if str(folder) in made:
            with suppress(OSError):  # it is not empty, not ours to remove, or gone
                folder.rmdir()
                del made[str(folder)]
                replace_file(home.made_folders, msgspec.json.encode(made))


def _made(home: Home) -> dict[str, str]:
    """Return the folders as keys; none where the record is unreadable."""
    with suppress(OSError, msgspec.DecodeError):
        return decode_json(read_plain(home.made_folders), dict[str, str])
    return {}
