"""The envelope: the few fields that a hook knows, and the client's payload as it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from observer.core.clock import LAST_MS
from observer.core.errors import Undecodable
from observer.core.value import Value

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = Mapping[str, Json]

MAGIC = b"OBS1\0"
HEADER_BYTES = 1 << 20
"""Longest run of fields we read; a longer header is not of our hooks."""

PAYLOAD = b"\0\0"
"""What stands between the fields and the payload."""
_ENV = "env."
_FIRST_MS = 946_684_800_000  # 2000-01-01: an earlier time is not of a clock that was set
_AHEAD_MS = 86_400_000


class Envelope(Value):
    """One spool entry, opened; the payload may know better than `client` and `event`."""

    id: str
    at_ms: int
    client: str
    event: str
    cwd: str = ""
    ppid: str = ""
    host: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    payload: bytes = b""

    @property
    def stand_in_session(self) -> str:
        """Name of the session of a client that names none: one per client process."""
        return f"ppid:{self.ppid}@{self.host}" if self.ppid else ""


def parse(entry_id: str, data: bytes, at_ms: int) -> Envelope:
    r"""Open an envelope: `OBS1\0`, then `name=value\0` fields, one empty field, the payload.

    `entry_id` becomes the event's id; `at_ms`, when the entry was written, stands in for an absent
    or absurd `at`. Raises Undecodable if it is none, cut short, or without a client or an event.
    """
    if not data.startswith(MAGIC):
        raise Undecodable("not an envelope: it does not begin with OBS1")
    end = data.find(PAYLOAD, len(MAGIC) - 1, HEADER_BYTES)
    if end < 0:
        raise Undecodable("an envelope without the empty field that ends its header")
    fields: dict[str, str] = {}
    args: list[str] = []
    env: dict[str, str] = {}
    # File names may hold any bytes, JSON and SQLite only text: replace what is not UTF-8.
    for line in data[len(MAGIC) : end].decode("utf-8", "replace").split("\0"):
        name, _, value = line.partition("=")
        if name == "arg":
            args.append(value)
        elif name.startswith(_ENV):
            env[name[len(_ENV) :]] = value
        else:
            fields[name] = value
    client, event = fields.get("client", ""), fields.get("event", "")
    if not (client and event):
        raise Undecodable(f"an envelope without the field {'event' if client else 'client'!r}")
    return Envelope(
        id=entry_id,
        at_ms=_time(fields.get("at", ""), at_ms),
        client=client,
        event=event,
        cwd=fields.get("cwd", ""),
        ppid=fields.get("ppid", ""),
        host=fields.get("host", ""),
        args=tuple(args),
        env=env,
        payload=data[end + len(PAYLOAD) :],
    )


def _time(claimed: str, written_ms: int) -> int:
    written_ms = min(max(written_ms, 0), LAST_MS)
    if not (claimed.isascii() and claimed.isdigit() and len(claimed) <= len(str(LAST_MS))):
        return written_ms
    at_ms = int(claimed)
    # The hook's clock and the file system's are one clock; far apart, the claim is garbage.
    return at_ms if _FIRST_MS <= at_ms <= written_ms + _AHEAD_MS else written_ms
