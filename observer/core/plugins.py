"""Finds what other packages add to ours, through their entry points."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import TypeVar

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def plugins(group: str, of: type[_T], *, taken: frozenset[str]) -> Iterator[tuple[str, _T]]:
    """Yield the objects of a group of entry points, each with its name, in the order of the names.

    One that cannot be imported, is not of the type `of`, or has a name that is `taken` is left out
    with a warning in the log: it must not keep the rest from working.
    """
    for entry in sorted(entry_points(group=group)):
        try:
            found = entry.load()
        except Exception as error:  # noqa: BLE001 - the code is not ours: it may raise anything
            _log.warning("%s: %r cannot be loaded: %r", group, entry.name, error)
            continue
        if entry.name in taken:
            _log.warning("%s: %r is ours, that of %s is left out", group, entry.name, entry.value)
        elif isinstance(found, of):
            yield entry.name, found
        else:
            _log.warning("%s: %s is not a %s", group, entry.value, of.__name__)
