"""A file of code that we put among a client's plugins: planned, brought up to date, removed.

It is the client's language and runs in its process; what it knows of us are the paths of our hook
scripts, which it runs and nothing else.
"""

from __future__ import annotations

from pathlib import Path

from observer.config_files.context import InstallContext
from observer.config_files.file_edits import FileEdit, read
from observer.core.errors import ConfigInvalid
from observer.core.json_text import dump

_OURS = "// Written by `observer install"
_PRELUDE = Path(__file__).with_name("plugin_prelude.js")


def javascript(name: str, source: Path, context: InstallContext) -> str:
    """Return a plug-in with what all of ours share: who it is for, how it calls our hooks."""
    hooks = dump(str(context.home.hooks)).decode()
    head = f"{_OURS} {name}`; `observer uninstall {name}` removes it.\n"
    constants = f'const CLIENT = "{name}"\nconst HOOKS = {hooks}\n'
    prelude, code = (path.read_text(encoding="utf-8") for path in (_PRELUDE, source))
    # Imports come first in a module.
    imports = [line for line in (prelude + code).splitlines(keepends=True) if _is_import(line)]
    rest = [line for line in (prelude + code).splitlines(keepends=True) if not _is_import(line)]
    return head + "".join(imports) + "\n" + constants + "".join(rest)


def put(path: Path, text: str) -> FileEdit:
    """Plan the file.

    Raises:
        ConfigInvalid: a file of somebody else has its name.
    """
    before = read(path)
    if before is not None and not _is_ours(before):
        raise ConfigInvalid(
            f"{path} is not a file of observer", hint="rename it, then repeat; nothing was changed"
        )
    return FileEdit(path=path, before=before, after=text.encode())


def drop(path: Path, context: InstallContext) -> FileEdit:
    """Plan its removal; a file of somebody else, or of another home, stays."""
    before = read(path)
    hooks = dump(str(context.home.hooks))
    is_gone = before is not None and _is_ours(before) and hooks in before
    return FileEdit(path=path, before=before, after=None if is_gone else before)


def _is_ours(content: bytes) -> bool:
    return content.startswith(_OURS.encode())


def _is_import(line: str) -> bool:
    return line.startswith("import ")
