"""A language model's part of the daemon, imported only where the settings name one.

It begins behind everything else: nothing waits for it, and without `llm_url` there is nothing but
a task that sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from observer.core.config import Settings
from observer.core.errors import ConfigInvalid, DaemonUnavailable
from observer.core.paths import Home
from observer.daemon.health import Health
from observer.daemon.status import LlmStatus, llm_status
from observer.daemon.writer import WriterThread
from observer.ingest.pipeline import Pipeline
from observer.memory.values import Extracted, no_model
from observer.spool.spool import Spool
from observer.store.interface import Store

if TYPE_CHECKING:
    from observer.daemon.enrich import EnrichWorker, Extractor
    from observer.llm.client import LlmClient

MOST_WAIT_S = 70.0
"""Longer than any answer that is waited for; only a daemon on its way out lets it pass."""


class Services(NamedTuple):
    """What of the daemon is used; `told` is called with the projects in which something changed."""

    store: Store
    spool: Spool
    pipeline: Pipeline
    writer: WriterThread
    health: Health
    told: Callable[[Iterable[int | None]], None]


class LazyLlm:
    """The part that asks, once it is there. `touch` says that something was stored."""

    def __init__(self, home: Home, settings: Settings, parts: Services) -> None:
        self._home = home
        self._settings = settings
        self._parts = parts
        self._enriching: EnrichWorker | None = None
        self._extracting: Extractor | None = None
        self._loop = asyncio.get_running_loop()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Say that something was stored in these projects."""
        if self._enriching:
            self._enriching.touch(projects)

    def status(self) -> LlmStatus | None:
        """Return how it stands; None where no model is configured.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        if not self._settings.llm_url:
            return None
        status = llm_status(self._settings, self._parts.store)
        return self._enriching.status(status) if self._enriching else status

    def extract(self, said: Sequence[str]) -> Extracted:
        """Return what of a conversation is worth keeping; blocks, so not for the loop's thread.

        Raises:
            ConfigInvalid: no model is configured.
            DaemonUnavailable: it cannot be asked yet, or never; the status tells why.
            AskFailed, BadInput: as `Extractor.extracted`.
        """
        if not self._settings.llm_url:
            return no_model(said)
        if self._extracting is None:
            raise DaemonUnavailable("the language model cannot be asked", hint="see: observer llm")
        asking = self._extracting.extracted(said)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result(MOST_WAIT_S)

    async def keep_enriching(self, *, after: asyncio.Event) -> None:
        """Ask, until cancelled, if the settings name a model and can be used.

        Args:
            after: what must have happened before the import may take the processor's time.
        """
        if self._settings.llm_url:
            await after.wait()
            try:
                made = await asyncio.to_thread(self._made)
            except ConfigInvalid as error:
                self._parts.health.degrade("llm", str(error))
            else:
                await self._keep(*made)
        await asyncio.Event().wait()

    async def _keep(self, patient: LlmClient, hasty: LlmClient) -> None:
        """Ask with two clients: one that has time, one for somebody who waits."""
        from observer.daemon import enrich  # noqa: PLC0415 - only where a model is configured

        model, daily_tokens = self._settings.llm_model, self._settings.llm_daily_tokens
        async with patient, hasty:
            self._extracting = enrich.Extractor(model, hasty, self._parts, daily_tokens)
            self._enriching = enrich.EnrichWorker(model, self._parts, daily_tokens)
            await self._enriching.keep_enriching(patient)

    def _made(self) -> tuple[LlmClient, LlmClient]:
        from observer.daemon.enrich import WAIT_S  # noqa: PLC0415 - 20 MB, for few
        from observer.llm.client import LlmClient  # noqa: PLC0415 - as above
        from observer.llm.endpoint import endpoint  # noqa: PLC0415 - as above

        found = endpoint(self._settings, self._home)
        return LlmClient(found), LlmClient(found, wait_s=WAIT_S)
