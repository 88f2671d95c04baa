"""`observer config model` and `config llm`: models that search by meaning, and one that writes."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import msgspec

from observer.cli import output
from observer.cli.commands import command, listing
from observer.cli.config import put_in_force
from observer.cli.output import fields
from observer.core import config
from observer.core.errors import BadInput, ConfigInvalid
from observer.core.model import Item, SummaryFields
from observer.core.moment import minute_of
from observer.core.paths import home
from observer.core.text import size_text
from observer.index.embed import registry
from observer.index.embed.download import pull
from observer.index.embed.registry import ModelInfo
from observer.llm.endpoint import endpoint
from observer.llm.prompt import of_session
from observer.llm.reply import enriched
from observer.store.database import SqliteStore
from observer.tools.status import current, llm_status, spent_text

if TYPE_CHECKING:
    from observer.llm.reply import LlmReply


@listing("model", "observer config model")
def model_command() -> None:
    """List the models that search by meaning, or choose one."""
    here = home()
    used = config.load(here).model
    models = registry.known(here.models)
    if used not in {info.name for info in models}:
        models.append(registry.chosen(used, here.models))
    rows = [_row(info, used) for info in models]
    columns = ("name", "used", "dimensions", "size", "licence", "description")
    spare = ("licence", "dimensions", "size")
    cells = (
        row
        | {"used": "yes" if row["is_used"] else "", "size": size_text(row["size_bytes"])}
        | {"description": row["problem"] or row["description"]}
        for row in rows
    )
    shown = ([row[name] for name in columns] for row in cells)
    output.table(columns, shown, spare=spare, value=rows)


@command("use", "observer config model use deep", of=model_command)
@click.argument("name")
def use_command(*, name: str) -> None:
    """Choose a model, and have all embedded anew with it."""
    # By the daemon, in the background, whether this command waits or is broken off.
    here = home()
    info = registry.find(name, here.models)
    model = registry.load(info)
    if name != info.name:
        name = str(info.folder.absolute())  # the daemon works in another folder
    is_running = put_in_force(here, "model", name)
    later = "what is remembered is embedded anew in the background; see how far: observer status"
    if not is_running:
        later = "what is remembered is embedded anew once the daemon runs: observer up"
    output.respond(
        {"model": name, "id": model.id, "dimensions": model.dimensions},
        f"model {name} is in use",
        remark=later,
    )


@command("pull", "observer config model pull mine --sha256 3b1f…", of=model_command)
@click.argument("name")
@click.option("--sha256", required=True, help="SHA-256 of the model's model.toml.")
def pull_command(*, name: str, sha256: str) -> None:
    """Download a model if its files are the pinned ones."""
    here = home()
    settings = config.load(here)
    if not settings.model_url:
        raise BadInput("no base URL", hint="observer config set model_url URL")
    info = pull(name, settings.model_url, sha256=sha256, folder=here.models)
    done = f"model {name} is in {info.folder}; to use it: observer config model use {name}"
    output.respond(_row(info, settings.model), done)


def _row(info: ModelInfo, used: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(info)
    folder = "" if info.parts else str(info.folder)
    parts = [part.name for part in info.parts]
    return {**fields, "folder": folder, "parts": parts, "is_used": used in {info.name, folder}}


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


@command("llm", "observer config llm --try")
@click.option("--try", "tries", is_flag=True, help="Ask it one question about made-up work.")
def llm_command(*, tries: bool) -> None:
    """Show the language model: off or on, tokens, last problem."""
    if tries:
        _try()
        return
    here = home()
    settings = config.load(here)
    if not settings.llm_url:
        off = "off: no language model is configured (llm_url is empty), and none is needed"
        output.respond({"is_on": False, "status": None}, f"llm  {off}")
        return
    # The daemon's state of the model, else that on disk.
    status = llm_status(settings)
    if here.database.exists():
        with closing(SqliteStore(here.database, read_only=True)) as store:
            status = llm_status(settings, store)
    try:
        endpoint(settings, here)
        status = current(here).llm or status
    except ConfigInvalid as error:
        status = msgspec.structs.replace(status, problem=str(error))
    if output.as_json({"is_on": True, "status": status}):
        return
    lines = [("llm", f"{status.model} at {status.url}"), ("today", spent_text(status))]
    if status.problem:
        lines.append(("problem", status.problem))
    if status.next_at:
        lines.append(("waits", f"until {minute_of(status.next_at)}"))
    fields(lines)


def _try() -> None:
    here = home()
    where = endpoint(config.load(here), here)
    begun_s = time.monotonic()

    async def ask() -> LlmReply:
        from observer.llm.client import LlmClient  # noqa: PLC0415 - a fifth of a second

        async with LlmClient(where) as client:
            return await client.ask(of_session(SAMPLE, ()))

    reply = asyncio.run(ask())
    wrote = enriched(SAMPLE, reply.text, model=where.model)
    took_s = time.monotonic() - begun_s
    about = {"model": where.model, "tokens": reply.tokens, "wait_ms": int(took_s * 1000)}
    if output.as_json({**about, "answer": wrote}):
        return
    text = f"{where.model} at {where.shown} answered in {took_s:.1f} s, {reply.tokens:,} tokens"
    output.say(text)
    said = {"narrative": wrote.narrative, "learned": wrote.learned, "next_steps": wrote.next_steps}
    said["concepts"] = ", ".join(wrote.concepts)
    fields([(name, text) for name, text in said.items() if text])
