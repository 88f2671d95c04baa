"""Has a language model say what of a conversation is worth keeping, while somebody waits for it.

Promises: what it may cost is written down before it is asked, by the day's tokens that hold for
everything a model is asked; where it fails nothing was stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from observer.clock import now_ms
from observer.daemon.enriching import Budget
from observer.daemon.late_llm import Parts
from observer.daemon.status import day_of
from observer.llm import answer, prompt
from observer.llm.client import AskFailed, Client, Reply
from observer.llm.prompt import ANSWER_TOKENS, Prompt
from observer.memory.values import Extracted

WAIT_S = 50.0
"""For an answer: MCP clients give up after a minute."""


class Extracting:
    """Asks one model; `daily_tokens` is the ceiling of the day."""

    def __init__(self, model: str, client: Client, parts: Parts, daily_tokens: int) -> None:
        self._model = model
        self._client = client
        self._run = parts.writer.run
        self._budget = Budget(parts.store, daily_tokens=daily_tokens)

    async def extracted(self, said: Sequence[str]) -> Extracted:
        """Return what is worth keeping of what was said, a text for each message.

        Raises:
            AskFailed: no answer, or no tokens left today.
            BadInput: too long a conversation, or no usable answer.
        """
        reply = await self._paid(prompt.of_conversation(said))
        return Extracted(facts=answer.facts(reply.text), model=self._model)

    async def _paid(self, asked: Prompt) -> Reply:
        """Ask, and count what it costs."""
        day, taken = day_of(now_ms()), asked.tokens + ANSWER_TOKENS
        if not await self._run(self._budget.take, day, taken):
            raise AskFailed(
                "the day's tokens of the language model are spent",
                hint="leave infer out, or raise llm_daily_tokens",
            )
        cost: int | None = None
        try:
            reply = await self._client.ask(asked)
            cost = reply.tokens
        except AskFailed as error:
            cost = error.tokens
            raise
        finally:
            await self._run(self._budget.correct, day, 0 if cost is None else cost - taken)
        return reply
