"""The importers of sessions: the rows of the modules of `shelf`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from observer.core.plugins import modules_of
from observer.importers.source import SessionSource

SHELF = "observer.importers.shelf"


@cache
def sources() -> Mapping[str, SessionSource]:
    """Return all importers in the order of their names, those that look in work trees at the end.

    Those before may name work trees; Atuin, which knows more of a command, comes before shells.

    All modules are imported; for one source ask `source_called`.
    """
    found = [source for module in modules_of(SHELF) for source in module.SOURCES]
    return {one.name: one for one in sorted(found, key=lambda one: (bool(one.inside), one.name))}


def source_called(name: str) -> SessionSource | None:
    """Return an importer; of the modules only its own is imported if that is called as it is."""
    module = f"{SHELF}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and find_spec(module):
        for source in import_module(module).SOURCES:
            if source.name == name:
                return cast("SessionSource", source)
    return sources().get(name)
