"""Sends a marked event through the installed hooks of each client, as that client would.

Each has a folder below `Home.probes`, in which the daemon answers with what the store gave back of
it; see `observer.ingest.probe`. In each stands a fake key, which must be in no file of the home.
"""

from __future__ import annotations

import secrets
import shutil
import string
import time
from collections.abc import Collection, Iterator
from contextlib import suppress

from observer import client as daemon
from observer.clients.client import Client
from observer.clients.installers import installed
from observer.clients.registry import clients
from observer.config_files.context import InstallContext
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home, make_private
from observer.doctor.diagnosis import Diagnosis, well, wrong
from observer.doctor.probe import Probe, send
from observer.purge.shred import finder, left
from observer.spool.pauses import EVERYWHERE
from observer.spool.spool import Spool

START_S = 20.0
GONE_S = 5.0
"""Within so long after the last answer nothing of a probe is left in the spool."""
NAME = "probes"


def probe_checks(
    context: InstallContext, names: Collection[str] | None = None
) -> Iterator[Diagnosis]:
    """Yield what became of a probe through each installed client, or through those named."""
    here = context.home
    with_hooks = installed(context)
    found = [clients()[name] for name in with_hooks if names is None or name in names]
    if not found or not here.hooks.is_dir():
        return
    if any(pause.scope == EVERYWHERE for pause in Spool(here.spool).pauses.now(now_ms())):
        yield well(NAME, "none sent: recording is paused everywhere")
        return
    try:
        daemon.ensure_daemon(here, wait_s=START_S)
    except ObserverError as error:
        yield wrong(NAME, error.message, error.hint)
        return
    yield from _probed(found, context)


def _probed(found: list[Client], context: InstallContext) -> Iterator[Diagnosis]:
    here = context.home
    run = make_private(here.probes / secrets.token_hex(4))
    keys = []
    try:
        for client in found:
            key = fake_key()
            keys.append(key)
            mark = f"probe-{secrets.token_hex(4)}"
            folder = make_private(run / client.name)
            yield send(Probe(client, context, folder=folder, mark=mark, key=key))
    finally:
        shutil.rmtree(run, ignore_errors=True)
        with suppress(OSError):  # another doctor is at work
            here.probes.rmdir()
    yield _unleaked(here, keys)


def fake_key() -> str:
    """Return a key in the form of one of GitHub's, which opens nothing."""
    letters = string.ascii_letters + string.digits
    return "ghp_" + "".join(secrets.choice(letters) for _ in range(36))


def _unleaked(here: Home, keys: list[str]) -> Diagnosis:
    text = finder(keys)
    assert text is not None  # noqa: S101 - there is a key
    deadline = time.monotonic() + GONE_S
    while (holding := left(here, text)) and time.monotonic() < deadline:
        time.sleep(0.1)
    if holding:
        found = f"a fake key that was sent is in {', '.join(holding)}"
        return wrong("secrets", found, "please report it; run: observer purge --secrets")
    return well("secrets", f"{len(keys)} fake keys were sent; no file of the home has one")
