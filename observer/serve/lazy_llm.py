"""The workers that use a language model, imported only if the settings name one.

They start after everything else: nothing waits for them, and without `llm_url` there is only a task
that sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from observer.core.config import Settings
from observer.core.errors import ConfigInvalid, DaemonUnavailable
from observer.core.paths import Home
from observer.memory.values import Extracted, no_model
from observer.serve.worker import Services
from observer.tools.status import LlmStatus, llm_status

if TYPE_CHECKING:
    from observer.llm.client import LlmClient
    from observer.serve.enrich import EnrichWorker, Extractor

MOST_WAIT_S = 70.0
"""Longer than any answer takes; it only passes while the daemon stops."""


class LazyLlm:
    """Imports the workers and runs them; `touch` as of `Worker`, ignored until they run."""

    def __init__(self, home: Home, settings: Settings, services: Services) -> None:
        self._home = home
        self._settings = settings
        self._services = services
        self._enriching: EnrichWorker | None = None
        self._extracting: Extractor | None = None
        self._loop = asyncio.get_running_loop()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects."""
        if self._enriching:
            self._enriching.touch(projects)

    def status(self) -> LlmStatus | None:
        """Return the model's status, None if no model is configured.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        if not self._settings.llm_url:
            return None
        status = llm_status(self._settings, self._services.store)
        return self._enriching.status(status) if self._enriching else status

    def extract(self, messages: Sequence[str]) -> Extracted:
        """Return the facts of a conversation worth keeping; blocks, not for the loop's thread.

        Raises:
            ConfigInvalid: no model is configured.
            DaemonUnavailable: it cannot be asked; the status has the reason.
            AskFailed, BadInput: as `Extractor.extracted`.
        """
        if not self._settings.llm_url:
            return no_model(messages)
        if self._extracting is None:
            raise DaemonUnavailable(
                "the language model cannot be asked", hint="see: observer config llm"
            )
        asking = self._extracting.extracted(messages)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result(MOST_WAIT_S)

    async def run(self) -> None:
        """Run the workers until cancelled; only sleep without a usable model."""
        if self._settings.llm_url:
            try:
                made = await asyncio.to_thread(self._made)
            except ConfigInvalid as error:
                self._services.health.degrade("llm", str(error))
            else:
                await self._keep(*made)
        await asyncio.Event().wait()

    async def _keep(self, patient: LlmClient, hasty: LlmClient) -> None:
        """Run the workers on two clients: a patient one, and one for somebody who waits."""
        from observer.serve import enrich  # noqa: PLC0415 - only where a model is configured

        model, daily_tokens = self._settings.llm_model, self._settings.llm_daily_tokens
        async with patient, hasty:
            self._extracting = enrich.Extractor(model, hasty, self._services, daily_tokens)
            self._enriching = enrich.EnrichWorker(model, self._services, daily_tokens)
            await self._enriching.run(patient)

    def _made(self) -> tuple[LlmClient, LlmClient]:
        from observer.llm.client import LlmClient  # noqa: PLC0415 - as above
        from observer.llm.endpoint import endpoint  # noqa: PLC0415 - as above
        from observer.serve.enrich import WAIT_S  # noqa: PLC0415 - 20 MB, for few

        found = endpoint(self._settings, self._home)
        return LlmClient(found), LlmClient(found, wait_s=WAIT_S)
