"""`observer config model`: list, inspect, choose and download embedding models."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from observer.cli.commands import Group
from observer.cli.config import put_in_force
from observer.cli.output import as_json, json_option, respond, table
from observer.core import config
from observer.core.errors import BadInput
from observer.core.paths import home
from observer.core.text import size_text
from observer.index.embed import registry
from observer.index.embed.download import pull
from observer.index.embed.registry import ModelInfo


@click.group(
    "model", cls=Group, invoke_without_command=True, epilog="Example: observer config model"
)
@json_option
@click.pass_context
def model_command(context: click.Context) -> None:
    """List the models that search by meaning, or choose one."""
    if context.invoked_subcommand is not None:
        return
    here = home()
    used = config.load(here).model
    models = registry.known(here.models)
    if used not in {info.name for info in models}:
        models.append(registry.chosen(used, here.models))
    rows = [_row(info, used) for info in models]
    if as_json(rows):
        return
    columns = ("name", "used", "dimensions", "size", "licence", "description")
    spare = ("licence", "dimensions", "size")
    cells = (
        row
        | {"used": "yes" if row["is_used"] else "", "size": size_text(row["size_bytes"])}
        | {"description": row["problem"] or row["description"]}
        for row in rows
    )
    table(columns, ([row[name] for name in columns] for row in cells), spare=spare)


@model_command.command("use", epilog="Example: observer config model use deep")
@click.argument("name")
@json_option
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
    respond(
        {"model": name, "id": model.id, "dimensions": model.dimensions},
        f"model {name} is in use",
        remark=later,
    )


@model_command.command("pull", epilog="Example: observer config model pull mine --sha256 3b1f…")
@click.argument("name")
@click.option("--sha256", required=True, help="SHA-256 of the model's model.toml.")
@json_option
def pull_command(*, name: str, sha256: str) -> None:
    """Download a model if its files are the pinned ones."""
    here = home()
    settings = config.load(here)
    if not settings.model_url:
        raise BadInput("no base URL", hint="observer config set model_url URL")
    info = pull(name, settings.model_url, sha256=sha256, folder=here.models)
    done = f"model {name} is in {info.folder}; to use it: observer config model use {name}"
    respond(_row(info, settings.model), done)


def _row(info: ModelInfo, used: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.structs.asdict(info)
    folder = "" if info.parts else str(info.folder)
    parts = [part.name for part in info.parts]
    return {**fields, "folder": folder, "parts": parts, "is_used": used in {info.name, folder}}
