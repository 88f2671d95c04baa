"""`observer purge --secrets`: apply the current redaction rules to what earlier ones let through.

The daemon stops for as long as that takes; hooks go on spooling.
"""

from __future__ import annotations

from contextlib import closing

from msgspec.structs import asdict

from observer.cli.consent import confirm_once
from observer.cli.exclusive import alone_and_drained, open_here
from observer.cli.output import breakdown, emit, note, progress, say
from observer.core.paths import Home
from observer.core.text import counted
from observer.core.value import Value
from observer.purge import carry_out as order
from observer.purge.carry_out import PurgeOrder, PurgeReceipt, carry_out
from observer.purge.redact import files_with_secrets, secrets_in, with_secrets
from observer.redaction.seen import SEEN
from observer.store.database import SqliteStore


class RedactPreview(Value):
    """What would be redacted: events, secrets by kind, files by folder; copies to be searched."""

    events: int
    secrets: dict[str, int]
    files: dict[str, int]
    backups: int
    left: tuple[str, ...]


def redact(here: Home, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Redact what is stored by today's rules: log, all that is derived, spool, logs and backups."""
    shown = _preview(here)
    if not as_json:
        _show(shown)
    if dry_run:
        if as_json:
            emit({"dry_run": True, **asdict(shown)})
        return
    if not yes:
        confirm_once("Redact it for good?", refusal="nothing was redacted", as_json=as_json)
    with alone_and_drained(here):
        receipt = redacted(here)
    if as_json:
        emit(asdict(receipt))
    else:
        _report(receipt)


def redacted(here: Home) -> PurgeReceipt:
    """Redact all that is stored; the caller holds the home. The next start resumes if killed.

    Raises:
        StoreUnavailable: a database cannot be written, or is read meanwhile.
        OSError: a file cannot be written.
    """
    todo = PurgeOrder(seqs=(), redacts=True)
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        total = reader.totals().events
    order.begin(here, todo)
    with progress("redacting", total) as advance:
        return carry_out(here, todo, open_here, advance=advance)


def has_secrets(here: Home) -> bool:
    """Return True if today's rules find a secret in the log."""
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        return bool(secrets_in(reader))


def _preview(here: Home) -> RedactPreview:
    SEEN.use(here.seen)
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        found = secrets_in(reader)
    return RedactPreview(
        events=found.events,
        secrets=dict(found.kinds.most_common()),
        files=files_with_secrets(here),
        backups=len(list(here.backups.glob("*.db"))),
        left=tuple(with_secrets(here)),
    )


def _show(shown: RedactPreview) -> None:
    say(f"{counted(shown.events, 'event')} with secrets{breakdown(shown.secrets)}")
    for where, count in shown.files.items():
        say(f"{where}: {counted(count, 'file')} with secrets")
    if shown.backups:
        say(f"backups: {shown.backups} to look through")
    _warn_of(shown.left)


def _report(receipt: PurgeReceipt) -> None:
    say(f"redacted {counted(receipt.redacted_events, 'event')}{breakdown(receipt.redacted)}")
    say_of_files(receipt, "redacted")
    _warn_of(receipt.left)


def say_of_files(receipt: PurgeReceipt, done: str) -> None:
    """Say what became of files outside of the log."""
    for where, count in receipt.files.items():
        say(f"{where}: {counted(count, 'file')} {done}")
    for name, became in receipt.backups.items():
        say(f"backups/{name}: {became}")


def _warn_of(left: tuple[str, ...]) -> None:
    for name in left:
        note(f"a secret stays in {name}, a copy of a file of yours")
