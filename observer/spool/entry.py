"""What the spool hands out, and the form in which hooks, shells and programs put it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """One envelope that waits to be stored.

    `id` is unique for ever and becomes the event's id. `end` is the offset behind the record in a
    shell's log, None for a file of its own. `fault` is empty, or says why `data` is only the head
    of something that cannot be decoded.
    """

    id: str
    data: bytes
    at_ms: int
    path: str
    end: int | None = None
    fault: str = ""


def envelope(fields: Mapping[str, str], payload: bytes) -> bytes:
    """Return an envelope around a payload.

    Bytes of file names survive as `os.fsdecode` gave them; any other lone surrogate turns the
    whole header's strays into `?`.

    Raises:
        ValueError: a name is empty or holds `=`, or a name or a value holds a NUL.
    """
    lines = ["OBS1"]
    for name, value in fields.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise ValueError(f"the field {name!r} cannot stand in an envelope")
        lines.append(f"{name}={value}")
    header = "\0".join([*lines, "", ""])
    try:
        return header.encode("utf-8", "surrogateescape") + payload
    except UnicodeEncodeError:
        return header.encode("utf-8", "replace") + payload
