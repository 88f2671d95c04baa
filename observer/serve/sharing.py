"""Shares of the daemon: a round for each every minute and after changes here, or on a server."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import msgspec

from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import NotFound, ObserverError, ShareUnavailable, StoreUnavailable
from observer.index.embed.registry import chosen
from observer.projects.policy import Policies
from observer.serve.requests import decoded
from observer.serve.worker import Services, Worker, background, heard
from observer.store.connection import stemmer
from observer.store.shares import ShareState
from observer.sync import incoming as sharing
from observer.sync import outgoing
from observer.sync.carriers import is_server, open_carrier, open_search, open_server
from observer.sync.team_search import ItemModel, fill

log = logging.getLogger(__name__)

EVERY_S = 60.0
SOON_S = 5.0  # after a change: what follows it at once leaves with it
PAUSES_S = (60.0, 120.0, 300.0, 900.0)
"""After the first, second, ... failure of a share in a row; the last for all further ones."""
PART = "sharing"


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of POST /sync: a share to add, or, without one, a round for those that there are."""

    add: ShareState | None = None


class ShareWorker(Worker):
    """Carries records to and fro."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._parts = outgoing.HomeSide(
            store=services.store,
            write=lambda work: services.writer.write(services.store, work),
            ingest=services.record,
            person=config.owner(services.settings),
            tombstones=services.tombstones,
            policies=Policies(),
            now_ms=now_ms,
            folder=str(Path.home()),
        )
        model = chosen(services.settings.model, services.home.models)
        self._model = ItemModel(model.id, model.dimensions, stemmer())
        self._one_at_a_time = Lock()
        self._failures: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._thread = background(1, "sync")
        self._heard: dict[str, Thread] = {}
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Begin a round every minute, and soon after something was stored, until cancelled."""

        def due_round() -> None:
            for share in self._shares():
                if time.monotonic() >= self._not_before.get(share.name, 0.0):
                    self._round(share)

        in_thread = partial(self._loop.run_in_executor, self._thread, due_round)
        try:
            while True:
                self._news.clear()
                await self._attempt(PART, in_thread, quiet=StoreUnavailable)
                await heard(self._news, within_s=EVERY_S)
                await asyncio.sleep(SOON_S)
        finally:  # the store is closed next, which a round may still use
            await asyncio.to_thread(self._thread.shutdown)

    def answer(self, body: bytes) -> Any:  # noqa: ANN401 - JSON
        """Carry out POST /sync; return what a round did for each share, or raise BadInput."""
        asked = decoded(body, SyncRequest)
        if asked.add:
            added = asked.add
            self._parts.write(lambda writer: writer.put_share(added))
        return [self._round(share) for share in self._shares()]

    def _shares(self) -> list[ShareState]:
        with self._store.read() as reader:
            return reader.shares()

    def _hear(self, share: ShareState) -> None:
        """Begin a round as soon as a share's server says that another has pushed."""
        # A RuntimeError: the loop has ended meanwhile.
        with suppress(ObserverError, RuntimeError), closing(open_server(share.url)) as server:
            while server.listens() and share.name in {one.name for one in self._shares()}:
                if server.wake(EVERY_S):
                    self._loop.call_soon_threadsafe(self.wake)

    def _round(self, share: ShareState) -> dict[str, object]:
        with self._one_at_a_time:
            try:
                with closing(open_carrier(share.url, self._home.root)) as carrier:
                    done = sharing.sync_once(self._parts, share.name, carrier)
                unsearched = self._filled(share)
            except ObserverError as error:
                count = self._failures.get(share.name, 0)
                self._failures[share.name] = count + 1
                pause_s = PAUSES_S[min(count, len(PAUSES_S) - 1)]
                self._not_before[share.name] = time.monotonic() + pause_s
                log.info("share %s: %s", share.name, error)
                with suppress(NotFound):  # removed meanwhile
                    sharing.failed(self._parts, share.name, error)
                return {"name": share.name, "error": error.message, "hint": error.hint}
        known = self._heard.get(share.name)
        if is_server(share.url) and not (known and known.is_alive()):
            self._heard[share.name] = Thread(target=self._hear, args=(share,), daemon=True)
            self._heard[share.name].start()
        self._failures.pop(share.name, None)
        self._not_before.pop(share.name, None)
        return {"name": share.name, **done._asdict(), "unsearched": unsearched}

    def _filled(self, share: ShareState) -> str:
        """Have a server know what it was sent, for its search; return why it cannot."""
        if not is_server(share.url):
            return ""
        try:
            with closing(open_search(share.url)) as server:
                fill(self._parts, share.name, server, self._model)
        except ShareUnavailable as error:
            log.info("share %s: %s", share.name, error)
            return f"{error.message}; {error.hint}"
        return ""
