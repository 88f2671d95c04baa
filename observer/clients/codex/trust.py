"""Whether Codex CLI runs our hooks: it skips those that its user has not trusted, and says nothing.

What is trusted stands in `config.toml` by the place of the handler, with a digest of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from observer.clients import hook_groups
from observer.config_files import toml_servers
from observer.config_files.context import InstallContext
from observer.config_files.file_edits import read
from observer.core.errors import ConfigInvalid

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def check_hooks(context: InstallContext) -> None:
    """Look whether hooks are on, and each of ours is trusted.

    Raises:
        ConfigInvalid: they are not, or a file cannot be read.
    """
    folder = context.place("CODEX_HOME", ".codex")
    hooks, settings = folder / "hooks.json", folder / "config.toml"
    try:
        text = (read(hooks) or b"").decode()
        config = toml_servers.load((read(settings) or b"").decode())
        ours = list(hook_groups.our_handlers(text, context))
    except ValueError as error:
        raise ConfigInvalid(f"{folder}: {error}", hint="correct the file") from error
    if _table(config, "features").get("hooks") is False:
        raise ConfigInvalid(
            f"hooks are switched off by features.hooks in {settings}",
            hint="remove features.hooks from that file",
        )
    trusted = _table(_table(config, "hooks"), "state")
    waiting = [one for one in ours if trusted.keys().isdisjoint(_keys(hooks, *one))]
    if waiting:
        raise ConfigInvalid(
            f"{len(waiting)} of {len(ours)} hooks are not trusted, and Codex skips them silently",
            hint="start codex, and trust them under /hooks",
        )


def _keys(path: Path, event: str, group: int, handler: int) -> set[str]:
    """Return the names of a handler; links in the path may be resolved or not."""
    behind = f"{_WORD.sub('_', event).lower()}:{group}:{handler}"
    return {f"{path}:{behind}", f"{path.resolve()}:{behind}"}


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}
