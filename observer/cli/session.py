"""Read access of commands to the memory, straight from the database, with or without a daemon."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from observer.cli.output import note
from observer.clients.registry import attribute
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import NotFound
from observer.core.filters import Filters
from observer.core.model import Project
from observer.core.paths import Home, home, is_read_only, working_folder
from observer.core.text import counted, did_you_mean
from observer.local import client
from observer.local.pauses import EVERYWHERE, Pause
from observer.local.spool import Spool

if TYPE_CHECKING:
    from observer.memory.api import Memory
    from observer.store.reader import StoreReader


@contextmanager
def reading(here: Home) -> Iterator[StoreReader]:
    """Read the database of a home as it is now. Raises StoreUnavailable: it cannot be read."""
    from observer.store.database import SqliteStore  # noqa: PLC0415 - as below

    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        yield reader


@contextmanager
def open_memory() -> Iterator[Memory]:
    """Open this home's memory for reading. Raises StoreUnavailable, ConfigInvalid."""
    # Half a second, which a command that asks the daemon does without.
    from observer.memory import opening  # noqa: PLC0415
    from observer.store.database import SqliteStore  # noqa: PLC0415

    here = home()
    settings = config.load(here)
    opening.refuse_unsettled(here)
    store = SqliteStore(here.database, read_only=True)
    with closing(store):
        if store.lost_events:
            lost = counted(store.lost_events, "event")
            note(f"note: the newest {lost} cannot be read here; repair it with: observer up")
        mention_unwritable(here)
        try:
            waiting = Spool(here.spool).depth()
        except OSError as error:
            waiting = 0
            note(f"note: the spool cannot be read: {error}")
        if waiting and not client.is_running(here):
            text = f"{counted(waiting, 'event')} {'waits' if waiting == 1 else 'wait'} to be stored"
            note(f"note: {text}; start the daemon with: observer up")
        yield opening.reading(store, here, settings).at(str(working_folder()))


def meant(memory: Memory, project: str | None) -> Project | None:
    """Return the project that an option names, or the one here. Raises NotFound, Ambiguous."""
    return memory.project(project) if project else memory.project_at(str(working_folder()))


def on_behalf(path: str, **body: object) -> Any:  # noqa: ANN401 - JSON as the daemon answers
    """Have the daemon do something for the person, or the agent in whose shell this runs."""
    client.ensure_daemon(home())
    author = attribute(os.environ).author
    return client.call(home(), "POST", path, {**body, "author": author})


def written() -> tuple[int, ...]:
    """Return what changes whenever something is written to the memory; it costs two looks."""
    here = home().database
    found = []
    for path in (here, here.with_name(f"{here.name}-wal")):
        with suppress(OSError):
            seen = path.stat()
            found += [seen.st_mtime_ns, seen.st_size]
    return tuple(found)


TYPES = (
    *("turn", "commit", "fix", "decision", "compaction", "summary"),
    *("fact", "preference", "context", "constraint", "heuristic", "rejected", "rule"),
    *("command", "file-write", "tool-use", "delegation", "research", "checkout"),
)
"""Types of items that observer itself gives; a note may have any other."""
LINKS = ("supersedes", "amends", "explicit")
NEAR = 0.75
"""Likeness of a typing error: `desicion` to `decision`."""


def nearly(word: str, known: Sequence[str]) -> str:
    """Return the known word that another is nearly, "" if it is one or is like none."""
    near = () if word in known else get_close_matches(word, known, n=1, cutoff=NEAR)
    return "".join(near)


def known_types(_context: click.Context, _option: click.Parameter, given: str) -> str:
    """Return types as they were given. Raises NotFound: one is a slip, of which is nothing."""
    for word in map(str.strip, given.split(",")):
        if near := nearly(word, TYPES):
            with reading(home()) as reader:
                if not reader.ids(Filters(types=(word,)), limit=1):
                    raise NotFound(f"nothing is of type {word!r}", hint=did_you_mean([near]))
    return given


def mention_damaged(count: int) -> None:
    """Say how many events are left out of what a command made of all of them, if any."""
    if count > 0:
        note(f"note: {counted(count, 'event')} left out, damaged; which ones says: observer doctor")


def mention_paused() -> None:
    """Say that nothing is recorded, where that is so everywhere."""
    pauses: Sequence[Pause] = ()
    with suppress(OSError):  # the spool has a check, and an error, of its own
        pauses = Spool(home().spool).pauses.now(now_ms())
    if any(one.scope == EVERYWHERE for one in pauses):
        note("recording is paused everywhere; record again with: observer pause --end")


def mention_unwritable(here: Home) -> None:
    """Say that nothing new is recorded, where the home cannot be written."""
    if is_read_only(here):
        note(f"note: the home {here.root} cannot be written, and nothing new is recorded")
