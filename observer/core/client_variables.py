"""Variables of the asking client, as `observer mcp` passes them on (`observer.local.pump`).

They belong to a task and the threads that it asks; a client over HTTP has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from math import isnan

_VARIABLES: ContextVar[tuple[str, ...]] = ContextVar("client variables", default=())


def enter(variables: Iterable[str]) -> None:
    """Set the variables of the current task's client, each `NAME=value`."""
    _VARIABLES.set(tuple(variables))


def client_number(name: str, default: float, *, most: float) -> float:
    """Return a variable of the asking client as a number from 0 to `most`, else the default."""
    try:
        number = float(client_variable(name) or default)
    except ValueError:
        return default
    return default if isnan(number) else min(max(number, 0.0), most)


def client_variable(name: str) -> str:
    """Return the value of a variable of the asking client, empty if it is not set."""
    start = f"{name}="
    found = (each.removeprefix(start) for each in _VARIABLES.get() if each.startswith(start))
    return next(found, "").strip()
