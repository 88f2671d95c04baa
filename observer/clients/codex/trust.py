"""Whether Codex CLI runs our hooks: it skips those that its user has not trusted, and says nothing.

What is trusted stands in `config.toml` by the place of the handler, with a digest of it; Codex
leaves it there when the handler is gone.
"""

from __future__ import annotations

import re
from contextlib import suppress
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


def without_trust(text: str, context: InstallContext) -> str:
    """Return `config.toml` without the trust in our hooks, and in what is no longer there.

    `hooks.json` is the one from which our hooks are still to be taken.

    Raises:
        ValueError: one of the files has another shape.
    """
    hooks = context.place("CODEX_HOME", ".codex") / "hooks.json"
    before = (read(hooks) or b"").decode()
    ours = {key for one in hook_groups.our_handlers(before, context) for key in _keys(hooks, *one)}
    if not ours:
        return text
    after = hook_groups.drop(before, context)
    left = {
        key
        for event, group, at, _ in hook_groups.handlers(after)
        for key in _keys(hooks, event, group, at)
    }
    config = toml_servers.load(text)
    trusted = _table(_table(config, "hooks"), "state")
    files = (f"{hooks}:", f"{hooks.resolve()}:")
    dead = {key for key in trusted if key in ours or (key.startswith(files) and key not in left)}

    def is_dead(header: dict[str, Any]) -> bool:
        state = _table(header, "hooks").get("state")
        # Without any row the table itself is one that Codex made for them.
        return isinstance(state, dict) and (state or trusted).keys() <= dead

    if not dead:
        return text
    kept = toml_servers.without(text, is_dead)
    with suppress(ValueError):
        if _without_rows(toml_servers.load(kept), dead) == _without_rows(config, dead):
            return kept
    raise ValueError("the tables hooks.state cannot be removed without changing others")


def _without_rows(config: dict[str, Any], dead: set[str]) -> dict[str, Any]:
    """Return what a configuration says but for rows of `hooks.state`, and tables left empty."""
    hooks = _table(config, "hooks")
    state = {key: row for key, row in _table(hooks, "state").items() if key not in dead}
    others = {name: one for name, one in hooks.items() if name != "state"}
    hooks = others | ({"state": state} if state else {})
    rest = {name: one for name, one in config.items() if name != "hooks"}
    return rest | ({"hooks": hooks} if hooks else {})


def _keys(path: Path, event: str, group: int, handler: int) -> set[str]:
    """Return the names of a handler; links in the path may be resolved or not."""
    behind = f"{_WORD.sub('_', event).lower()}:{group}:{handler}"
    return {f"{path}:{behind}", f"{path.resolve()}:{behind}"}


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}
