"""One round of a share: what is there is taken in, then what has changed here is sent.

Every step of `incoming` and `outgoing` may be repeated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.sync.incoming import pull
from observer.sync.outgoing import HomeSide, collect, push, share_called
from observer.sync.record import Carrier


class Round(NamedTuple):
    """What one round did, in records: made here, taken in, refused."""

    sent: int = 0
    taken: int = 0
    refused: int = 0


def sync_once(home: HomeSide, name: str, carrier: Carrier) -> Round:
    """Fetch and take in what is there, then send what has changed here.

    It is sent last, so that a home which was restored finds out what it once sent.

    Raises:
        ShareUnavailable: the share is out of reach; what was done stays done.
        StoreUnavailable: the store cannot be written.
    """
    taken, refused = pull(home, name, carrier)
    sent = push(home, name, carrier)
    at_ms = home.now_ms()
    _change(home, name, pulled_ms=at_ms, pushed_ms=at_ms, fault="")
    return Round(sent, taken, refused)


def failed(home: HomeSide, name: str, error: ObserverError) -> None:
    """Note why a round failed; what has changed here waits for the next."""
    collect(home, name)
    _change(home, name, fault=str(error))


def _change(home: HomeSide, name: str, **fields: Any) -> None:  # noqa: ANN401 - of several types
    home.write(lambda writer: writer.put_share(replace(share_called(writer, name), **fields)))
