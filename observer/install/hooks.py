"""Our scripts in `<home>/hooks`: the stable copies that clients' configurations name.

A checkout or virtual environment may move or vanish; these paths never change, so the command
strings never do either. A refresh replaces what differs and removes nothing: a configuration that
nobody has updated yet may still name an older script.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from observer.errors import ConfigInvalid
from observer.install.edits import FileEdit, read
from observer.paths import SHIPPED_HOOKS, Home


def shipped(sources: Sequence[Path] = SHIPPED_HOOKS) -> Path:
    """Return the folder of the scripts that belong to this version.

    Raises:
        ConfigInvalid: the installation lacks them.
    """
    for folder in sources:
        if (folder / "post").is_file():
            return folder
    raise ConfigInvalid(
        f"the hook scripts are missing from {sources[0].parent}", hint="install observer again"
    )


def hook_files(home: Home) -> list[FileEdit]:
    """Return the edits that bring `<home>/hooks` to this version; none if it is there."""
    source = shipped()
    edits = []
    for script in sorted(path for path in source.rglob("*") if path.is_file()):
        target = home.hooks / script.relative_to(source)
        content = script.read_bytes()
        mode = 0o755 if content.startswith(b"#!") else 0o644
        edit = FileEdit(path=target, before=read(target), after=content, mode=mode, is_ours=True)
        if edit.is_change:
            edits.append(edit)
    return edits


def command(home: Home, *words: str) -> str:
    """Return the command line, quoted for sh, of one of our scripts: its name, its arguments."""
    script, *arguments = words
    return shlex.join([str(home.hooks / script), *arguments])


def is_ours(home: Home, line: object) -> bool:
    """Tell whether a command line in a foreign configuration runs one of our scripts."""
    if not isinstance(line, str):
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    return bool(words) and words[0].startswith(f"{home.hooks}/")
