"""All reminders for one event, in the order of their urgency."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from observer.core.events import Event, Prompt
from observer.core.filters import Filters
from observer.search.candidates import Sources
from observer.search.dropped import dropped
from observer.search.reminder import Reminder, after, before, decided, harmless
from observer.store.interface import Store


def reminders(
    store: Store,
    sources: Callable[[], AbstractContextManager[Sources]],
    event: Event,
    here: Filters,
    *,
    now_ms: int,
    is_coming: bool,
) -> Iterator[Reminder]:
    """Yield reminders for an event that is about to happen, or has just happened.

    The first that the session has not been shown is meant; one may say nothing.
    """
    with store.read() as reader:
        yield dropped(reader, event, here)
        if not isinstance(event.body, Prompt):
            yield harmless((before if is_coming else after)(reader, event, here))
            return
    with sources() as found:
        yield harmless(decided(found, event.body.text, here, now_ms=now_ms))
