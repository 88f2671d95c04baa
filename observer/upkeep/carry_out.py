"""Carries out a purge; its order is kept until it is done, and any step may be repeated."""

from __future__ import annotations

from contextlib import closing

import msgspec

from observer.core.disk import create, settle
from observer.core.errors import StoreUnavailable
from observer.core.paths import Home, read_plain
from observer.core.value import Value, decode_json
from observer.redaction.seen import SEEN
from observer.store.tombstones import Tombstones
from observer.upkeep import take_out
from observer.upkeep.redact import redact_files, with_secrets
from observer.upkeep.shred import clear_derived, clear_text, finder, left, shred


class PurgeOrder(Value):
    """What goes: events by `seq`, texts; with `only_these` another of the same may come later."""

    seqs: tuple[int, ...]
    texts: tuple[str, ...] = ()
    redacts: bool = False
    only_these: bool = False


def begin(home: Home, order: PurgeOrder) -> None:
    """Write an order down, to be carried out by whoever comes next. Raises OSError: not begun."""
    unfinished = home.root / f".{home.purging.name}"
    shred(unfinished)
    create(unfinished, msgspec.json.encode(order))
    unfinished.replace(home.purging)
    settle(home.root)


def begun(home: Home) -> PurgeOrder | None:
    """Return the order that is not carried out yet, if any. Raises StoreUnavailable: unreadable."""
    shred(home.root / f".{home.purging.name}")  # never begun
    try:
        return decode_json(read_plain(home.purging), PurgeOrder)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{home.purging} cannot be read: {error}"
        raise StoreUnavailable(message, hint="delete it, and purge again") from error


def end(home: Home) -> None:
    """Take an order as carried out."""
    # Under its name it would be overwritten before it is gone: a kill between the two would leave
    # an order that nobody can read, and no start would get past it.
    unfinished = home.root / f".{home.purging.name}"
    home.purging.replace(unfinished)
    settle(home.root)
    shred(unfinished)
    settle(home.root)


class PurgeReceipt(Value):
    """What went: events of the log, files by where they were, copies by name.

    `redacted` counts secrets by kind, in `redacted_events` of the log. `left` are files of the home
    that hold a text, or a secret, all the same.
    """

    events: int = 0
    redacted_events: int = 0
    redacted: dict[str, int] = msgspec.field(default_factory=dict)
    tombstones: int = 0
    files: dict[str, int] = msgspec.field(default_factory=dict)
    backups: dict[str, str] = msgspec.field(default_factory=dict)
    left: tuple[str, ...] = ()


def carry_out(
    home: Home,
    asked: PurgeOrder,
    open_store: take_out.Open,
    *,
    advance: take_out.Advance = lambda _: None,
) -> PurgeReceipt:
    """Write an order down, and do what it says; the caller holds the home.

    Raises StoreUnavailable or OSError: something cannot be written now; the next start goes on.
    """
    begin(home, asked)
    text = finder(asked.texts)
    SEEN.use(home.seen)
    SEEN.forget(asked.texts)
    tombstones = Tombstones(home.tombstones)
    with closing(open_store(home.database, home.backups)) as store:
        with store.read() as reader:
            marks = take_out.marks_of(reader, asked.seqs)  # those that are gone have theirs
            if asked.only_these:
                marks = ((event_id, "", ()) for event_id, _, _ in marks)
            tombstones.add(marks)
        what = take_out.Removal(tombstones, text, asked.redacts)
        cleaned = take_out.clean(store, what, advance=advance)
        store.compact()
    backups = take_out.clean_copies(home, open_store, what)
    clear_derived(home)
    files = clear_text(home, text) if text else {}
    if asked.redacts:
        files |= redact_files(home)
    end(home)
    return PurgeReceipt(
        events=cleaned.gone,
        redacted_events=cleaned.redacted.events,
        redacted=dict(cleaned.redacted.kinds),
        tombstones=len(tombstones),
        files=files,
        backups=backups,
        left=(*(left(home, text) if text else ()), *(with_secrets(home) if asked.redacts else ())),
    )


def complete(home: Home, open_store: take_out.Open) -> PurgeReceipt | None:
    """Finish what was begun, and clean a database older than what was purged; None for nothing."""
    if asked := begun(home):
        return carry_out(home, asked, open_store)
    tombstones = Tombstones(home.tombstones)
    if not home.database.exists():
        return None
    with closing(open_store(home.database, home.backups)) as store:
        take_out.derive_if_needed(store)
        if not tombstones:
            return None
        with store.read() as reader:
            if take_out.is_clean(reader, tombstones):
                return None
    return carry_out(home, PurgeOrder(seqs=()), open_store)
