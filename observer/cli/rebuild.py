"""`observer doctor --rebuild`: all items and sessions, derived anew from the log of events."""

from __future__ import annotations

from contextlib import closing

from observer.cli.exclusive import alone, open_here, repair_first
from observer.cli.output import emit, say
from observer.cli.redact import has_secrets, redacted
from observer.cli.session import mention_damaged
from observer.cli.terminal import progress
from observer.core import config
from observer.core.clock import now_ms
from observer.core.paths import Home
from observer.core.text import counted
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.purge.carry_out import complete
from observer.spool.spool import Spool


def rebuild(here: Home, *, as_json: bool) -> None:
    """Derive everything anew, once what earlier rules let through is redacted."""
    repair_first(here)
    with alone(here):
        # Secrets that earlier redaction rules missed must not be derived again.
        complete(here, open_here)
        receipt = redacted(here) if has_secrets(here) else None
        events = _derived(here)
    count = receipt.redacted_events if receipt else 0
    if as_json:
        emit({"events": events, "redacted": count})
    else:
        say(f"rebuilt from {counted(events, 'event')}")
    if receipt and not as_json:
        say(f"{counted(count, 'event')} redacted first, by newer rules")


def _derived(here: Home) -> int:
    with closing(open_here(here.database, here.backups)) as store:
        pipeline = Pipeline(
            store,
            Spool(here.spool),
            settings=config.load(here),
            places=PlaceCache(),
            now_ms=now_ms,
        )
        with store.read() as reader:
            total = reader.totals().events
        with progress("rebuilding", total) as advance:
            events = pipeline.rebuild(advance=advance)
        mention_damaged(total - events)
        return events
