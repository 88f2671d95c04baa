"""`observer import --worker`: what the daemon starts to import in the background and to follow.

A process of its own, at low priority, so that searches do not wait for it. It ends with the daemon,
whose end closes its standard input, and prints how far it is, one JSON object a line.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping

from observer.cli.output import emit
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.paths import Home
from observer.importers.run import (
    LOOK_EVERY_S,
    FinishedImports,
    Follower,
    drop,
    end_import,
    give_way,
    import_planned,
    plan_source,
    queued,
    to_daemon,
)
from observer.importers.source import SessionSource

FOLLOWED_MS = 7 * 86_400_000
"""A session that ended so long before the daemon came up is left to `observer import`."""


class _Ended(Exception):
    """The daemon is going, or the import was given up."""


def work(home: Home, sources: Mapping[str, SessionSource]) -> None:
    """Import what is queued, then follow what the settings name, for as long as there is any.

    Raises:
        BadInput: the settings name a source that is not known.
        DaemonUnavailable: the daemon is gone, or does not answer.
    """
    give_way()
    settings = config.load(home)
    known = [name for name, source in sources.items() if source.can_follow()]
    if unknown := [name for name in settings.follow if name not in known]:
        raise BadInput(f"cannot follow {unknown[0]!r}", hint=f"one of: {', '.join(known)}")
    finished = FinishedImports(home.imports)
    followers = [
        Follower(
            sources[name],
            (sources[name].folder(os.environ),),
            finished,
            since_ms=now_ms() - FOLLOWED_MS,
            idle_ms=settings.session_idle_minutes * 60_000,
        )
        for name in settings.follow
    ]
    send = to_daemon(home, starts=False)
    try:
        while True:
            _import_queued(home, sources, finished)
            for each in followers:
                plan = each.look(now_ms())
                import_planned(home, plan, finished, send, advance=_goes_on)
            if not followers:
                return
            _goes_on(wait_s=LOOK_EVERY_S)
    except _Ended:
        return


def _import_queued(
    home: Home, sources: Mapping[str, SessionSource], finished: FinishedImports
) -> None:
    asked = queued(home)
    if asked is None:
        drop(home)
        return
    done = 0

    def advance(sessions: int) -> None:
        nonlocal done
        done += sessions
        emit({"done": done})
        sys.stdout.flush()
        _goes_on()
        if queued(home) != asked:
            raise _Ended

    for source, choice in asked.choices(sources):
        plan = plan_source(home, source, choice, finished)
        import_planned(home, plan, finished, to_daemon(home, starts=False), advance=advance)
    end_import(home)
    drop(home)


def _goes_on(_sessions: int = 0, *, wait_s: float = 0.0) -> None:
    """Wait, and go on unless the daemon is going.

    Raises:
        _Ended: it is.
    """
    if select.select([sys.stdin], [], [], wait_s)[0]:
        raise _Ended
