"""`observer config model`: list, inspect, choose and download embedding models."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec

from observer.cli.commands import Group
from observer.cli.config import put_in_force
from observer.cli.output import emit, json_option, note, progress, respond, table
from observer.core import config
from observer.core.errors import BadInput
from observer.core.paths import Home, home
from observer.core.text import size_text
from observer.index.embed import registry
from observer.index.embed.download import pull
from observer.index.embed.registry import ModelInfo
from observer.tools.status import current

RESTART_S = 30.0
LOOK_S = 0.3
STILL_S = 15.0
"""After this long without progress, nothing is left to embed."""


@click.group(
    "model", cls=Group, invoke_without_command=True, epilog="Example: observer config model"
)
@json_option
@click.pass_context
def model_command(context: click.Context, *, as_json: bool) -> None:
    """List the models that search by meaning, or choose one."""
    if context.invoked_subcommand is not None:
        return
    here = home()
    used = config.load(here).model
    models = registry.known(here.models)
    if used not in {info.name for info in models}:
        models.append(registry.chosen(used, here.models))
    rows = [_row(info, used) for info in models]
    if as_json:
        emit(rows)
        return
    columns = ("name", "used", "dimensions", "size", "licence", "description")
    spare = ("licence", "dimensions", "size")
    table(columns, ([_shown(row, name) for name in columns] for row in rows), spare=spare)


@model_command.command("use", epilog="Example: observer config model use deep")
@click.argument("name")
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="Show how the daemon gets on with it; search goes on meanwhile.",
)
@json_option
def use_command(*, name: str, wait: bool, as_json: bool) -> None:
    """Choose a model, and have all embedded anew with it."""
    # By the daemon, in the background, whether this command waits or is broken off.
    here = home()
    info = registry.find(name, here.models)
    model = registry.load(info)
    if name != info.name:
        name = str(info.folder.absolute())  # the daemon works in another folder
    is_running = put_in_force(here, "model", name)
    if is_running and wait:
        _watch(here, name)
    later = "what is remembered is embedded anew once the daemon runs: observer up"
    respond(
        {"model": name, "id": model.id, "dimensions": model.dimensions},
        f"model {name} is in use",
        remark="" if is_running else later,
        as_json=as_json,
    )


def _watch(here: Home, name: str) -> None:
    """Show how many items are embedded, until all are or none follow: some have no text."""
    status = current(here, wait_s=RESTART_S)
    shown, last_s = 0, time.monotonic()
    with progress(f"embedding with {name}", status.to_embed or status.items) as advance:
        # Before the index is there nobody knows how many are records, which are not embedded.
        while shown < (status.to_embed or status.items):
            if status.degraded or time.monotonic() - last_s >= STILL_S:
                break
            time.sleep(LOOK_S)
            status = current(here, wait_s=RESTART_S)
            if status.vectors > shown:
                advance(status.vectors - shown)
                shown, last_s = status.vectors, time.monotonic()
    if status.degraded:
        note(f"degraded: {status.degraded}")


@model_command.command("pull", epilog="Example: observer config model pull mine --sha256 3b1f…")
@click.argument("name")
@click.option("--sha256", required=True, help="SHA-256 of the model's model.toml.")
@click.option("--from", "base_url", help="Base URL; else the setting model_url.")
@json_option
def pull_command(*, name: str, sha256: str, base_url: str | None, as_json: bool) -> None:
    """Download a model if its files are the pinned ones."""
    here = home()
    settings = config.load(here)
    address = base_url or settings.model_url
    if not address:
        raise BadInput("no base URL", hint="give --from, or: observer config set model_url URL")
    info = pull(name, address, sha256=sha256, folder=here.models)
    done = f"model {name} is in {info.folder}; to use it: observer config model use {name}"
    respond(_row(info, settings.model), done, as_json=as_json)


def _row(info: ModelInfo, used: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(info)
    folder = "" if info.parts else str(info.folder)
    parts = [part.name for part in info.parts]
    return {**fields, "folder": folder, "parts": parts, "is_used": used in {info.name, folder}}


def _shown(row: dict[str, Any], name: str) -> object:
    if name == "used":
        return "yes" if row["is_used"] else ""
    if name == "size":
        return size_text(row["size_bytes"])
    return row["problem"] or row[name] if name == "description" else row[name]
