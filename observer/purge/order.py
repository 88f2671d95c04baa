"""What a purge that was begun has to do, kept in the home until it is done."""

from __future__ import annotations

import msgspec

from observer.errors import StoreUnavailable
from observer.events import Value
from observer.paths import Home, read_plain
from observer.purge.shredding import shred
from observer.spool.files import create, settle


class Order(Value):
    """Events by their `seq`, texts that go from all files of the home; `redacts` secrets too."""

    seqs: tuple[int, ...]
    texts: tuple[str, ...] = ()
    redacts: bool = False


def begin(home: Home, order: Order) -> None:
    """Write an order down: from now on it is carried out, by whoever comes next.

    Raises:
        OSError: the home cannot be written; nothing was begun.
    """
    unfinished = home.root / f".{home.purging.name}"
    shred(unfinished)
    create(unfinished, msgspec.json.encode(order))
    unfinished.replace(home.purging)
    settle(home.root)


def begun(home: Home) -> Order | None:
    """Return the order that is not carried out yet, None if there is none.

    Raises:
        StoreUnavailable: there is one that cannot be read.
    """
    shred(home.root / f".{home.purging.name}")  # never begun
    try:
        return msgspec.json.decode(read_plain(home.purging), type=Order)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreUnavailable(
            f"{home.purging} cannot be read: {error}", hint="delete it, and purge again"
        ) from error


def end(home: Home) -> None:
    """Take an order as carried out."""
    # Under its name it would be overwritten before it is gone: a kill between the two would leave
    # an order that nobody can read, and no start would get past it.
    unfinished = home.root / f".{home.purging.name}"
    home.purging.replace(unfinished)
    settle(home.root)
    shred(unfinished)
    settle(home.root)
