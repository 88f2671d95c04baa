"""Our sections in a git configuration file: read, planned and written by git itself.

git edits a copy; the result is planned as an edit like any other. In a section `command` stands
before `event`: an event without a command makes every commit fail.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from observer.config_files.context import InstallContext, shipped
from observer.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid, NotFound
from observer.git.configuration import run_as_user

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Sections: TypeAlias = Mapping[str, Pairs]
"""Section name to its keys and values, in order."""

_OURS = "hook.observer-"
_OUR_KEYS = frozenset({"command", "event"})
_TIME_LIMIT_S = 20


def ask(context: InstallContext, *words: str, folder: Path | None = None) -> str:
    """Run git and return what it says, without the last newline.

    Raises:
        ConfigInvalid: git is missing, or says no.
    """
    # GIT_DIR and its kin would make git look at another repository than the folder's.
    try:
        run = run_as_user(
            words,
            folder=str(folder or context.user_home),
            environ=context.environ,
            wait_s=_TIME_LIMIT_S,
        )
    except NotFound as error:
        raise ConfigInvalid(error.message, hint=error.hint) from error
    if run.returncode:
        raise ConfigInvalid(
            f"git {words[0]} failed: {run.stderr.decode('utf-8', 'replace').strip()}",
            hint="correct what git names, then repeat; nothing was changed",
        )
    return run.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def wanted(context: InstallContext) -> Sections:
    """Return the sections that this version ships, with the path of `post` put in."""
    post = _post(context)
    shipped_sections = _sections(context, shipped() / "git" / "config")
    return {
        name: tuple((key, value.replace("@POST@", post)) for key, value in pairs)
        for name, pairs in shipped_sections.items()
    }


def is_in(context: InstallContext, path: Path) -> bool:
    """Return True if a configuration file has sections that run our `post`.

    Raises:
        ConfigInvalid: the file is not a git configuration.
    """
    present = _sections(context, path) if path.exists() else {}
    return any(_runs(pairs, _post(context)) for pairs in present.values())


def edit(context: InstallContext, path: Path, sections: Sections) -> FileEdit:
    """Plan that a configuration file has these sections, and no others that run our `post`.

    Raises:
        ConfigInvalid: the file is not a git configuration.
    """
    before = read(path)
    post = _post(context)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "config"
        copy.write_bytes(before or b"")
        present = _sections(context, copy, shown_as=path)
        touched = [name for name in present if name in sections or _runs(present[name], post)]
        changed = [name for name in touched if not _is_as_wanted(present, sections, name)]
        for name in changed:
            ask(context, "config", "-f", str(copy), "--remove-section", name)
        for name, pairs in sections.items():
            if name in changed or name not in present:
                for key, value in (*pairs, *_added_by_user(present.get(name, ()))):
                    ask(context, "config", "-f", str(copy), "--add", f"{name}.{key}", value)
        after = copy.read_bytes()
    if not after.strip() and (before is None or before.strip()):
        return FileEdit(path=path, before=before, after=None)
    return FileEdit(path=path, before=before, after=after)


def _post(context: InstallContext) -> str:
    return shlex.quote(str(context.home.hooks / "post"))


def _runs(pairs: Pairs, post: str) -> bool:
    return any(key == "command" and post in value for key, value in pairs)


def _added_by_user(pairs: Pairs) -> Pairs:
    """Return what a user added to a section of ours, such as `enabled = false`."""
    return tuple((key, value) for key, value in pairs if key not in _OUR_KEYS)


def _is_as_wanted(present: Sections, sections: Sections, name: str) -> bool:
    ours = tuple((key, value) for key, value in present[name] if key in _OUR_KEYS)
    return ours == sections.get(name)


def _sections(context: InstallContext, path: Path, *, shown_as: Path | None = None) -> Sections:
    """Return our sections of a file. git prints keys in lower case, and sections in order."""
    try:
        listed = ask(context, "config", "-f", str(path), "--list", "-z")
    except ConfigInvalid as error:
        raise ConfigInvalid(
            error.message.replace(str(path), str(shown_as or path)), hint=error.hint
        ) from error
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in listed.split("\0"):
        key, _, value = entry.partition("\n")
        if key.startswith(_OURS):
            section, _, name = key.rpartition(".")
            found.setdefault(section, []).append((name, value))
    return {name: tuple(pairs) for name, pairs in found.items()}
