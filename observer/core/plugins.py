"""Finds the modules of a shelf of ours, and what other packages add, through entry points."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def modules_of(shelf: str) -> Iterator[Any]:
    """Yield the modules of a package, imported now, in the order of their names."""
    for name in sorted(one.name for one in iter_modules(import_module(shelf).__path__)):
        yield import_module(f"{shelf}.{name}")


def with_plugins(group: str, of: type[_T], ours: Mapping[str, _T]) -> dict[str, _T]:
    """Return objects by name: `ours`, then those of a group of entry points in name order.

    One that cannot be imported, is not of the type `of`, or has a name of ours is only logged.
    """
    found = dict(ours)
    if not _is_named(group):
        return found
    from importlib.metadata import entry_points  # noqa: PLC0415 - 30 ms, and mostly there are none

    for entry in sorted(entry_points(group=group)):
        try:
            loaded = entry.load()
        except Exception as error:  # noqa: BLE001 - the code is not ours: it may raise anything
            _log.warning("%s: %r cannot be loaded: %r", group, entry.name, error)
            continue
        if entry.name in ours:
            _log.warning("%s: %r is ours, that of %s is left out", group, entry.name, entry.value)
        elif isinstance(loaded, of):
            found[entry.name] = loaded
        else:
            _log.warning("%s: %s is not a %s", group, entry.value, of.__name__)
    return found


def _is_named(group: str) -> bool:
    """Return False only if no installed package names a group of entry points."""
    folders = [Path(entry or ".") for entry in sys.path]
    if any(folder.is_file() for folder in folders):  # an archive of packages
        return True
    listed = (file for folder in folders for file in folder.glob("*.*-info/entry_points.txt"))
    try:
        return any(group.encode() in file.read_bytes() for file in listed)
    except OSError:
        return True
