"""How commands that read everything have the database mended first, rather than end amid it."""

from __future__ import annotations

from observer.cli.alone import alone
from observer.cli.output import note
from observer.clock import now_ms
from observer.paths import Home
from observer.repair.demand import demand
from observer.repair.mending import has_damage, mended


def mend_first(here: Home) -> None:
    """Return once the database is whole; what was mended, and what is lost, goes to stderr.

    Raises:
        StoreUnavailable: it cannot be mended.
        DaemonUnavailable: a daemon does not leave it to us.
    """
    if not has_damage(here):
        return
    demand(here, "a command found pages that were changed on the disk")
    with alone(here, tries=2):
        # A daemon may have been quicker.
        if loss := mended(here, now_ms=now_ms):
            note(f"note: {loss}")
