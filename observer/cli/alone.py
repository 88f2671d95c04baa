"""How a command has the home to itself: the daemon leaves, and is started again after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from observer import client
from observer.daemon.lock import hold
from observer.errors import DaemonUnavailable
from observer.paths import Home

RESTART_S = 20


@contextmanager
def alone(here: Home, *, tries: int = 1) -> Iterator[None]:
    """Hold the home without a daemon; one that ran before is started again afterwards.

    Args:
        here: the home.
        tries: how often a daemon is asked to leave; an open editor may start another at once.

    Raises:
        DaemonUnavailable: a daemon does not leave, or has started each time.
    """
    was_running = client.stop(here)
    try:
        for attempt in range(tries):
            if attempt:
                client.stop(here)
            with hold(here) as is_ours:
                if is_ours:
                    yield
                    return
        raise DaemonUnavailable(
            "a daemon started meanwhile", hint="close your editors, or try again"
        )
    finally:
        if was_running:
            client.ensure_daemon(here, wait_s=RESTART_S)
