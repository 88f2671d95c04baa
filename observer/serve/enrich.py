"""The requests to a language model: notes about finished work, facts from conversations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from observer.core.clock import now_ms
from observer.core.errors import BadInput, ObserverError
from observer.core.events import Event
from observer.core.filters import Filters
from observer.core.model import UNASSIGNED, Item, iso, seq_of
from observer.llm import prompt
from observer.llm import reply as answer
from observer.llm.client import LlmClient
from observer.llm.prompt import ANSWER_TOKENS, LlmPrompt
from observer.llm.reply import AskFailed, LlmReply
from observer.memory.values import Extracted
from observer.projects.policy import Policies
from observer.serve.worker import Services, Worker
from observer.store.reader import StoreReader
from observer.tools.status import LlmStatus, day_of
from observer.upkeep.home_guard import HomeLost

log = logging.getLogger(__name__)

PAUSE_S = 2.0  # between two requests, and before the first after something was stored
PAUSES_S = (15.0, 60.0, 300.0, 900.0, 3600.0)
LOOK_AGAIN_S = 300.0  # while the day's tokens are spent: clocks are changed, and computers sleep
ITEMS = 200  # most items of a session that are read for its prompt
UNUSABLE_IN_A_ROW = 3
"""Unusable answers in a row after which the model is reported, not the question blamed."""
DAY_MS = 86_400_000

T = TypeVar("T")


class TokensSpent(AskFailed):
    """The day has fewer tokens left than a request may cost."""


class Budget:
    """The day's tokens, in the store: reserved before a request, corrected by what it cost."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._run = services.writer.run
        self._daily_tokens = services.settings.llm_daily_tokens

    async def asked(
        self, client: LlmClient, asked: LlmPrompt, keep: Callable[[LlmReply], Awaitable[T]]
    ) -> T:
        """Return what is kept of a reply; raise TokensSpent, or AskFailed with its cost counted."""
        day, taken = day_of(now_ms()), asked.tokens + ANSWER_TOKENS
        if not await self._run(self.take, day, taken):
            raise TokensSpent(
                "the day's tokens of the language model are spent",
                hint="leave infer out, or raise llm_daily_tokens",
            )
        try:
            reply = await client.ask(asked)
        except AskFailed as error:
            cost = taken if error.tokens is None else error.tokens
            await self._run(self.correct, day, cost - taken)
            raise
        # Before the reservation is corrected: a crash between must not ask again.
        kept = await keep(reply)
        await self._run(self.correct, day, reply.tokens - taken)
        return kept

    def take(self, day: str, tokens: int) -> bool:
        """Reserve the tokens of one request; return False if the day has fewer left."""
        with self._store.write() as writer:
            if writer.spending(day).tokens + tokens > self._daily_tokens:
                return False
            writer.spend(day, tokens=tokens, requests=1)
        return True

    def correct(self, day: str, by_tokens: int) -> None:
        """Add the tokens that a request cost beyond its reservation; negative gives back."""
        if by_tokens:
            with self._store.write() as writer:
                writer.spend(day, tokens=by_tokens)


class EnrichWorker(Worker):
    """Asks about finished sessions and items, one request at a time."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._budget = Budget(services)
        self._policies = Policies()
        self._given_up: set[tuple[int, int]] = set()
        self._failures = 0
        self._problem: str | None = None
        self._is_spent = False
        self._next_ms: int | None = None

    def status(self, status: LlmStatus) -> LlmStatus:
        """Return the status with the last problem and the time of the next request."""
        return msgspec.structs.replace(
            status,
            is_spent=self._is_spent,
            problem=self._problem,
            next_at=iso(self._next_ms) if self._next_ms else None,
        )

    async def run(self, client: LlmClient) -> None:
        """Ask about one thing after the other, the newest first, until cancelled."""
        while True:
            self._news.clear()
            self._next_ms, self._is_spent = None, False
            try:
                pause_s = await self._enrich_one(client)
            except HomeLost:
                raise
            except ObserverError as error:
                pause_s = self._failed(str(error))
            except Exception as error:
                log.exception("enriching failed")
                pause_s = self._failed(f"{type(error).__name__}; see the log")
            if pause_s is None:
                await self._news.wait()
                pause_s = PAUSE_S
            await asyncio.sleep(pause_s)

    async def _enrich_one(self, client: LlmClient) -> float | None:
        """Ask about one item; return the pause after it, None for until woken."""
        if not await asyncio.to_thread(self._spool.is_empty):
            return PAUSE_S  # a session that looks over may go on in what is not stored yet
        item = await self._asked(self._next)
        if item is None:
            return None
        asked = await self._asked(partial(_prompt, item))
        try:
            return await self._budget.asked(client, asked, partial(self._keep, item))
        except TokensSpent:
            until_s = (DAY_MS - now_ms() % DAY_MS) / 1000
            self._is_spent = True
            self._next_ms = now_ms() + int(until_s * 1000)
            return min(until_s, LOOK_AGAIN_S)
        except AskFailed as error:
            return self._refused(error, item)

    async def _keep(self, item: Item, reply: LlmReply) -> float:
        try:
            body = answer.enriched(item, reply.text, model=self._settings.llm_model)
        except BadInput as error:
            return self._refused(AskFailed(error.message, is_asked_wrong=True), item)
        project_id = item.project_id or UNASSIGNED
        event = Event(
            # The same for the same state of the item, so that the log cannot hold it twice.
            id=f"enriched-{body.item}-{body.as_of_ms}",
            at_ms=now_ms(),
            client="observer",
            body=body,
            author="system",
        )
        receipts = await self._writer.run(self._pipeline.ingest, [event], project_id)
        if receipts[0].seq is None:  # written before, and lost since: the log has it
            self._give_up(item)
        self._on_change([project_id])
        self._failures = 0
        self._problem = None
        self._health.recover("llm")
        return PAUSE_S

    def _next(self, reader: StoreReader) -> Item | None:
        apart = sorted(self._policies.unshared(reader.projects()))
        waiting = reader.unenriched(limit=1 + len(self._given_up), without=apart)
        return next(
            (one for one in waiting if (one.id, one.updated_ms) not in self._given_up), None
        )

    def _refused(self, error: AskFailed, item: Item) -> float:
        if error.is_asked_wrong:
            self._give_up(item)
        is_one_question = error.is_asked_wrong and self._failures + 1 < UNUSABLE_IN_A_ROW
        return self._failed(str(error), at_least_s=error.wait_s, is_shown=not is_one_question)

    def _give_up(self, item: Item) -> None:
        """Skip an item until it changes or the daemon restarts."""
        self._given_up.add((item.id, item.updated_ms))

    def _failed(self, problem: str, *, at_least_s: float = 0.0, is_shown: bool = True) -> float:
        """Record a failure; return the pause after it, which grows with each in a row."""
        pause_s = max(PAUSES_S[min(self._failures, len(PAUSES_S) - 1)], at_least_s)
        self._failures += 1
        self._problem = problem
        self._next_ms = now_ms() + int(pause_s * 1000)
        log.info("a language model did not answer, waiting %.0f s: %s", pause_s, problem)
        if is_shown:
            self._health.degrade("llm", problem)
        return pause_s


def _prompt(item: Item, reader: StoreReader) -> LlmPrompt:
    """Return what is asked about an item; of a session without its personal notes."""
    if item.kind == "summary":
        session = reader.session(item.session_id or 0)
        where = Filters(
            project_id=item.project_id,
            session_id=item.session_id,
            since_ms=session.started_ms if session else None,
            until_ms=item.updated_ms + 1,
        )
        return prompt.of_session(item, reader.recent(where, limit=ITEMS))
    seq = seq_of(item.id)
    first = [one for one in reader.log(after_seq=seq - 1, limit=1) if one.seq == seq]
    return prompt.of_observation(item, first[0].event.body if first else None)


WAIT_S = 50.0  # for an answer; MCP clients give up after a minute


async def extracted(client: LlmClient, services: Services, messages: Sequence[str]) -> Extracted:
    """Return the facts of a conversation worth keeping, from a text for each message.

    Raises AskFailed without an answer or tokens; BadInput if text or answer cannot be used.
    """

    async def said(reply: LlmReply) -> str:
        return reply.text

    text = await Budget(services).asked(client, prompt.of_conversation(messages), said)
    return Extracted(facts=answer.facts(text), model=services.settings.llm_model)
