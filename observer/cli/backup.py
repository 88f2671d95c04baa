"""The commands `backup` and `restore`: a copy of the database, and a home in one file."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import click
import msgspec
from msgspec.structs import asdict

from observer.cli.config import write_setting
from observer.cli.exclusive import TRIES, alone, open_here, repair_first
from observer.cli.output import (
    as_json,
    confirm_once,
    json_option,
    note,
    refuse_agents,
    respond,
    say,
)
from observer.clients.config_files.context import current_context
from observer.clients.installers import installable, installed_parts
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.paths import Home, home
from observer.core.text import counted, size_text
from observer.memory.opening import refuse_unsettled
from observer.store.database import SqliteStore
from observer.upkeep.bundle import pack, restore
from observer.upkeep.carry_out import complete


@click.command("backup", epilog="Example: observer backup --to ~/observer-home.tar.gz")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--to",
    "bundle",
    type=click.Path(path_type=Path),
    help="Write the whole home into this file, to move it: settings too, nothing of clients.",
)
@click.option("--yes", "-y", is_flag=True, help="Make the folder of the file, if there is none.")
@json_option
def backup_command(*, path: Path | None, bundle: Path | None, yes: bool) -> None:
    """Write a verified copy of the database, or of the whole home."""
    here = home()
    if path and bundle:
        raise BadInput("two files are named", hint="give either FILE or --to FILE")
    target = (bundle or path or here.backups / f"{here.database.stem}-{_stamp()}.db").absolute()
    if target.exists():
        raise BadInput(f"{target} exists", hint="name another file, or move it away")
    if not (yes or target.parent == here.backups or target.parent.exists()):
        # A name with a typing error hides a backup.
        gone = f"there is no folder {target.parent}"
        confirm_once(
            f"{gone}. Make it?",
            refusal=f"nothing was written, {gone}",
            hint="make it, or add --yes",
        )
    refuse_unsettled(here)
    repair_first(here)
    target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    if bundle:
        events = pack(here, target, config.owner(config.load(here))).events
    else:
        with closing(SqliteStore(here.database, read_only=True)) as store:
            store.backup(target)
            with store.read() as reader:
                events = reader.totals().events
    size = target.stat().st_size
    respond(
        {"path": str(target), "bytes": size, "events": events},
        f"{target}: {counted(events, 'event')}, {size_text(size)}, verified",
        remark=f"to use it: observer restore {target}",
    )


@click.command("restore", epilog="Example: observer restore ~/observer-home.tar.gz")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Take the place of a memory; a copy of it is kept.")
@json_option
def restore_command(*, path: Path, replace: bool) -> None:
    """Restore a file of backup or export, of any machine."""
    refuse_agents("an agent restores nothing")
    here = home()
    with alone(here, tries=TRIES):
        done = restore(here, path, replaces=replace, stamp=_stamp())
        purged = complete(here, open_here)
        is_other = _keep_owner(here, done.manifest.owner)
    gone = purged.events if purged else 0
    manifest = msgspec.structs.replace(done.manifest, events=done.manifest.events - gone)
    if as_json(asdict(msgspec.structs.replace(done, manifest=manifest))):
        return
    left = f"; {counted(gone, 'event')} left out, purged since" if gone else ""
    say(f"restored {counted(manifest.events, 'event')} into {here.root}{left}")
    if done.replaced:
        say(f"what was there before: {done.replaced}")
    if is_other:
        say(f"setting owner = {done.manifest.owner}, whose personal notes it holds")
    context = current_context(here)
    if not any(installed_parts(name, context) for name in installable()):
        note("connect your clients here: observer install")


def _keep_owner(here: Home, owner: str) -> bool:
    """Keep personal notes with whom they belong to, though the user has another name here."""
    settings = config.load(here)
    if not owner or settings.owner or config.owner(settings) == owner:
        return False
    write_setting(here, "owner", owner)
    return True


def _stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms() / 1000))
