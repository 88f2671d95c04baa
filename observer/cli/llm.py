"""`observer config llm`: the state of the configured language model, and a test request."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import TYPE_CHECKING

import click
import msgspec

from observer.cli.output import as_json, fields, json_option, say
from observer.core import config
from observer.core.config import Settings
from observer.core.errors import ConfigInvalid
from observer.core.model import Item, SummaryFields
from observer.core.moment import minute_of
from observer.core.paths import Home, home
from observer.llm.endpoint import Endpoint, endpoint
from observer.llm.prompt import of_session
from observer.llm.reply import enriched
from observer.store.database import SqliteStore
from observer.tools.status import LlmStatus, current, llm_status, spent_text

if TYPE_CHECKING:
    from observer.llm.reply import LlmReply

OFF = "off: no language model is configured (llm_url is empty), and none is needed"

SAMPLE = Item(
    id=0,
    uuid="",
    kind="summary",
    type="summary",
    title="Fix the cart that books twice",
    summary=SummaryFields(
        request="Two orders are booked when a customer clicks twice.",
        completed="Changed src/cart.py (book) +9 -2. pytest: 12 passed.",
        learned="src/cart.py gave the lock back before the booking was stored.",
        next_steps="Not committed: src/cart.py.",
    ),
)
"""The made-up summary that `--try` asks about."""


@click.command("llm", epilog="Example: observer config llm --try")
@click.option("--try", "tries", is_flag=True, help="Ask it one question about made-up work.")
@json_option
def llm_command(*, tries: bool) -> None:
    """Show the language model: off or on, tokens, last problem."""
    if tries:
        _try()
        return
    here = home()
    settings = config.load(here)
    status = _status(here, settings)
    if as_json({"is_on": status is not None, "status": status}):
        return
    fields(_described(status) if status else [("llm", OFF)])


def _try() -> None:
    here = home()
    where = endpoint(config.load(here), here)
    begun_s = time.monotonic()
    reply = asyncio.run(_ask(where))
    wrote = enriched(SAMPLE, reply.text, model=where.model)
    took_s = time.monotonic() - begun_s
    about = {"model": where.model, "tokens": reply.tokens, "wait_ms": int(took_s * 1000)}
    if as_json({**about, "answer": wrote}):
        return
    say(f"{where.model} at {where.shown} answered in {took_s:.1f} s, {reply.tokens:,} tokens")
    said = {"narrative": wrote.narrative, "learned": wrote.learned, "next_steps": wrote.next_steps}
    said["concepts"] = ", ".join(wrote.concepts)
    fields([(name, text) for name, text in said.items() if text])


async def _ask(where: Endpoint) -> LlmReply:
    from observer.llm.client import LlmClient  # noqa: PLC0415 - a fifth of a second, for this alone

    async with LlmClient(where) as client:
        return await client.ask(of_session(SAMPLE, ()))


def _status(here: Home, settings: Settings) -> LlmStatus | None:
    """Return the daemon's state of the model, else that on disk; None if no model is configured."""
    if not settings.llm_url:
        return None
    stored = llm_status(settings)
    if here.database.exists():
        with closing(SqliteStore(here.database, read_only=True)) as store:
            stored = llm_status(settings, store)
    try:
        endpoint(settings, here)
    except ConfigInvalid as error:
        return msgspec.structs.replace(stored, problem=str(error))
    return current(here).llm or stored


def _described(status: LlmStatus) -> list[tuple[str, str]]:
    lines = [("llm", f"{status.model} at {status.url}"), ("today", spent_text(status))]
    if status.problem:
        lines.append(("problem", status.problem))
    if status.next_at:
        lines.append(("waits", f"until {minute_of(status.next_at)}"))
    return lines
