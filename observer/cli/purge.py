"""`observer purge`: preview, confirm and delete events, or secrets alone, in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import click
from msgspec.structs import asdict

from observer.cli import completion, output
from observer.cli.commands import Given, command
from observer.cli.exclusive import alone_and_drained, open_here
from observer.cli.session import open_memory, reading
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.moment import moment_ms
from observer.core.paths import Home, home
from observer.core.text import breakdown, counted
from observer.memory.purging import in_notes, kept_in_text, planned
from observer.redaction.seen import SEEN
from observer.upkeep.carry_out import PurgeOrder, PurgeReceipt, carry_out
from observer.upkeep.choose import Criteria, chosen
from observer.upkeep.redact import files_with_secrets, secrets_in, with_secrets


def redact(here: Home, *, dry_run: bool, yes: bool) -> None:
    """Redact what is stored by today's rules: log, all that is derived, spool, logs and backups."""
    SEEN.use(here.seen)
    with reading(here) as reader:
        found = secrets_in(reader)
    kinds, files = dict(found.kinds.most_common()), files_with_secrets(here)
    backups, left = len(list(here.backups.glob("*.db"))), list(with_secrets(here))
    lines = [f"{counted(found.events, 'event')} with secrets{breakdown(kinds)}"]
    lines += [f"{where}: {counted(count, 'file')} with secrets" for where, count in files.items()]
    lines += [f"backups: {backups} to look through"] * bool(backups)
    lines += _copies(left)
    shown = {"events": found.events, "secrets": kinds, "files": files, "backups": backups}
    shown["left"] = left
    if _looked(shown, lines, ends=dry_run, dry_run=dry_run):
        return
    output.confirm_once("Redact it for good?", yes=yes, refusal="nothing was redacted")
    with alone_and_drained(here):
        receipt = redacted(here)
    done = f"redacted {counted(receipt.redacted_events, 'event')}{breakdown(receipt.redacted)}"
    text = "\n".join((done, *_became(receipt, "redacted")))
    output.respond(asdict(receipt), text, remark="\n".join(_copies(receipt.left)))


def redacted(here: Home) -> PurgeReceipt:
    """Redact all; the caller holds the home. Raises StoreUnavailable, OSError: as `carry_out`."""
    with reading(here) as reader:
        total = reader.totals().events
    with output.progress("redacting", total) as advance:
        return carry_out(here, PurgeOrder(seqs=(), redacts=True), open_here, advance=advance)


def _looked(shown: dict[str, Any], lines: Iterable[str], *, ends: bool, dry_run: bool) -> bool:
    """Show what would go, as JSON only where it `ends` with that; return whether it does."""
    if not output.wants_json():
        output.say("\n".join(lines))
    elif ends:
        output.emit({"dry_run": dry_run, **shown})
    return ends


def _became(receipt: PurgeReceipt, done: str) -> list[str]:
    files = [f"{where}: {counted(n, 'file')} {done}" for where, n in receipt.files.items()]
    return files + [f"backups/{name}: {became}" for name, became in receipt.backups.items()]


def _copies(left: Iterable[str]) -> list[str]:
    return [f"a secret stays in {name}, a copy of a file of yours" for name in left]


@command("purge", 'observer purge --text "the customer\'s name" --dry-run')
@click.argument("ids", nargs=-1, metavar="[ID|UUID]...", shell_complete=completion.items)
@click.option("--text", default="", help="Whatever holds this text; - asks for it, or reads stdin.")
@click.option("--query", default="", help="Items that hold all of these words.")
@output.named_project("Name, folder or remote of a project.")
@completion.option("--session", completion.sessions, "A session, by its id.")
@click.option("--file", default="", help="What touched this file or folder.")
@click.option("--client", default="", help="What this client reported.")
@click.option("--since", default="", help="From then on: 2026-11-21, or 7d for ago.")
@click.option("--until", default="", help="Before then.")
@click.option("--secrets", is_flag=True, help="Secrets alone, by today's rules, wherever they are.")
@click.option("--dry-run", is_flag=True, help="Show what goes, and change nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def purge_command(
    *, ids: tuple[str, ...], secrets: bool, dry_run: bool, yes: bool, **options: Given
) -> None:
    """Take events out for good: out of log, index, spool and backups."""
    output.refuse_agents("an agent purges nothing")
    here = home()
    if secrets:
        if ids or any(options.values()):
            raise BadInput("--secrets is of all that is stored", hint="leave the rest out")
        redact(here, dry_run=dry_run, yes=yes)
        return
    asked = _criteria(ids, **options)
    with reading(here) as reader:
        shown, _ = planned(reader, here, asked)
    is_all = dry_run or not (shown.events or shown.files or (asked.text and shown.note_files))
    if _looked(asdict(shown), shown.lines(), ends=is_all, dry_run=dry_run):
        return
    output.confirm_once("Purge it for good?", yes=yes, refusal="nothing was purged")
    with alone_and_drained(here):
        with closing(open_here(here.database, here.backups)) as store, store.read() as reader:
            seqs = chosen(reader, asked)
            left = reader.totals().events - len(seqs)
        todo = PurgeOrder(seqs=tuple(sorted(seqs)), texts=(asked.text,) if asked.text else ())
        with output.progress("purging", left) as advance:
            receipt = carry_out(here, todo, open_here, advance=advance)
    kept = kept_in_text(here, asked)
    done = f"purged {counted(receipt.events, 'event')}; {counted(receipt.tombstones, 'tombstone')}"
    text = "\n".join((done, *_became(receipt, "deleted"), *in_notes(kept)))
    remarks = [f"still held by {name}, which is left as it is" for name in receipt.left]
    remarks.append(
        "copies outside of the home are as they were; one put in its place is cleaned at the start"
    )
    value = {**asdict(receipt), "note_files": kept}
    output.respond(value, text, remark="\n".join(remarks))


def _criteria(
    ids: tuple[str, ...], *, text: str, project: str | None, since: str, until: str, **named: str
) -> Criteria:
    if text == "-":  # in no command line, and no shell history
        asks = sys.stdin.isatty()
        text = click.prompt("Text", hide_input=True, err=True) if asks else sys.stdin.read()
        text = str(text).strip()
    at_ms = now_ms()
    project_id: int | None = None
    items: tuple[int, ...] = ()
    if project or ids:
        with open_memory() as memory:
            project_id = memory.project(project).id if project else None
            items = tuple(int(one) if one.isdecimal() else memory.resolve(one) for one in ids)
    return Criteria(
        ids=items,
        text=text,
        project_id=project_id,
        since_ms=moment_ms(since, now_ms=at_ms),
        until_ms=moment_ms(until, now_ms=at_ms),
        owner=config.owner(config.load(home())),
        **named,
    )
