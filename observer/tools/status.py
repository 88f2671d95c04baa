"""The status of the daemon and its store: from the daemon, or from disk if none answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from observer import __version__
from observer.core import config
from observer.core.clock import iso_ms, now_ms
from observer.core.config import Settings
from observer.core.errors import ConfigInvalid, DaemonUnavailable, StoreUnavailable
from observer.core.model import LlmUsage, iso
from observer.core.moment import minute, minute_of
from observer.core.paths import Home
from observer.core.text import age_text, counted, listed, size_text
from observer.importers.run import queued
from observer.ingest.decode import unknown_client
from observer.local import refusals
from observer.local.client import PROTOCOL, call, daemon_pid, is_running
from observer.local.pauses import EVERYWHERE, OF_SESSION, Pause
from observer.local.refusals import Refusals
from observer.local.spool import Spool
from observer.projects.policy import Policies
from observer.projects.policy.policies import PolicyProblem, asked_for
from observer.store.connection import outline
from observer.store.database import SqliteStore
from observer.store.interface import Store
from observer.store.reader import Totals
from observer.upkeep import size_cap
from observer.upkeep.losses import recent

_OUTDATED_ITEMS = (
    "items: an older observer made them, without all that this one finds in the log, such as"
    " the history of notes; make them anew with: observer doctor --rebuild"
)

REMEMBERED_MS = 7 * 86_400_000
"""How long refused events are reported."""


class LlmStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the language model.

    Once the day's tokens are spent, or after a `problem`, the next request is sent at `next_at`.
    """

    url: str
    model: str
    daily_tokens: int
    tokens_today: int = 0
    requests_today: int = 0
    is_spent: bool = False
    problem: str | None = None
    next_at: str | None = None


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """A work tree that is watched, or that is not; `reason` says why not, or not fully."""

    root: str
    files: int = 0
    folders: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """Return it as text for a person."""
        of = f"{counted(self.files, 'file')} in {counted(self.folders, 'folder')}"
        return f"{self.root}: {'; '.join(filter(None, (of * bool(self.folders), self.reason)))}"


class NotedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A note folder; `skipped` names some of the files that are not stored, with the reasons.

    `files` are those that were found on the disk, None before they are looked for; `unread` those
    that are still to be read.
    """

    name: str
    path: str
    notes: int = 0
    files: int | None = None
    unread: int = 0
    skipped_files: int = 0
    skipped: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it as text for a person."""
        waiting = f"; {counted(self.unread, 'file')} to be read" if self.unread else ""
        left = f"; not stored: {listed(self.skipped)}" if self.skipped else ""
        more = self.skipped_files - len(self.skipped)
        left += f" and {more} more" if more > 0 else ""
        return f"{self.path}: {counted(self.notes, 'note')}{waiting}{left}"


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """Where recording is paused; `ends_at` is null for a pause without end."""

    where: str
    started_at: str
    ends_at: str | None = None


class Importing(msgspec.Struct, frozen=True, kw_only=True):
    """An import in the background: the sessions it reads, and how many of them are stored."""

    sessions: int
    done: int = 0


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What `observer status --json` prints and `GET /status` answers, always with every field.

    `spool_depth` counts events that wait to be stored, `bad_events` those that no decoder could
    read, `unknown_clients` how many of them are of clients that no decoder knows (of the first
    1,000), by name, `refused_events` those that hooks could not write in the last seven days.
    `vectors` counts the items that `model` has embedded, of `to_embed`: all but records. Both are 0
    while the daemon is down.
    `policies` are the repository policies that cannot be used, where nothing is recorded. `paused`
    is where recording is paused. `unconfirmed` are limits that are written and delete nothing
    until somebody agrees, as `observer config set` takes them. `importing` is null while no import
    goes on in the background, `redacting` counts stored events from which a value is being taken
    that was recognised later, `following` names the clients whose sessions are read while they go
    on. `degraded` describes what does not work, null if all does. `llm` is null if no language
    model is configured, and while the daemon is down.
    """

    pid: int | None = None
    version: str = __version__
    protocol: int = PROTOCOL
    uptime_ms: int | None = None
    events: int = 0
    items: int = 0
    projects: int = 0
    sessions: int = 0
    active_sessions: int = 0
    spool_depth: int = 0
    oldest_spooled_at: str | None = None
    bad_events: int = 0
    unknown_clients: dict[str, int] = {}
    refused_events: int = 0
    last_stored_at: str | None = None
    degraded: str | None = None
    model: str = ""
    vectors: int = 0
    to_embed: int = 0
    db_bytes: int = 0
    spool_bytes: int = 0
    watched: tuple[Watched, ...] = ()
    note_folders: tuple[NotedFolder, ...] = ()
    policies: tuple[PolicyProblem, ...] = ()
    paused: tuple[Paused, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    importing: Importing | None = None
    redacting: int = 0
    following: tuple[str, ...] = ()
    http: str | None = None
    llm: LlmStatus | None = None
    home: str = ""


def current(home: Home, *, wait_s: float = 2.0) -> Status:
    """Return the daemon's own status, or that of the disk if it does not answer."""
    if not is_running(home):
        return from_disk(home)
    try:
        return msgspec.convert(call(home, "GET", "/status", wait_s=wait_s), Status, strict=False)
    except (DaemonUnavailable, msgspec.ValidationError) as error:
        found = from_disk(home)
        return msgspec.structs.replace(found, pid=daemon_pid(home), degraded=f"daemon: {error}")


def importing(home: Home, done: int = 0) -> Importing | None:
    """Return the import in the background; None without one."""
    asked = queued(home)
    return Importing(sessions=asked.sessions, done=min(done, asked.sessions)) if asked else None


def from_disk(home: Home) -> Status:
    """Return the status of a home without its daemon; changes nothing."""
    try:
        found = next(path for path in (home.root, *home.root.parents) if path.exists())
        if not found.is_dir():
            return Status(home=str(home.root), degraded=f"home: {found} is not a folder")
        degraded = None if os.access(found, os.W_OK) else f"home: {found} cannot be written"
        status = Status(home=str(home.root), degraded=degraded, importing=importing(home))
        try:
            if home.database.exists():
                with closing(SqliteStore(home.database, read_only=True)) as store:
                    status = with_store(status, home, store)
        except StoreUnavailable as error:
            status = without_store(status, home, error)
        return with_spool(status, home)
    except PermissionError as error:
        problem = f"home: {error.filename} cannot be read: {error.strerror}"
        return Status(home=str(home.root), degraded=problem)


def without_store(status: Status, home: Home, error: StoreUnavailable) -> Status:
    """Return the status with why the store cannot be used, and what its file says that it holds."""
    status = msgspec.structs.replace(status, degraded=status.degraded or f"store: {error}")
    if not home.database.exists():
        return status
    try:
        held = outline(home.database)
    except StoreUnavailable:
        return status  # the first error says why
    return msgspec.structs.replace(
        status,
        events=held.events,
        items=held.items,
        projects=held.projects,
        last_stored_at=_iso(held.last_stored_ms),
        db_bytes=home.database.stat().st_size,
    )


def with_store(status: Status, home: Home, store: Store, restricted: Iterable[str] = ()) -> Status:
    """Return the status with the store's counts, and what policies cannot do or ask for.

    `restricted` are further folders that may have one. Raises StoreUnavailable.
    """
    with store.read() as reader:
        totals: Totals = reader.totals()
        roots = {root for project in reader.projects() for root in project.roots}
    policies, roots = Policies(), roots.union(restricted)
    problems = (policies.at(root).problem for root in sorted(roots))
    asked = ""
    with suppress(ConfigInvalid):  # as the daemon and the doctor say themselves
        asked = asked_for(policies, roots, config.written(home))
    return msgspec.structs.replace(
        status,
        degraded=status.degraded or (_OUTDATED_ITEMS if totals.is_behind else None),
        events=totals.events,
        items=totals.items,
        projects=totals.projects,
        sessions=totals.sessions,
        active_sessions=totals.active_sessions,
        last_stored_at=_iso(totals.last_stored_ms),
        db_bytes=totals.size_bytes,
        policies=tuple(filter(None, problems)),
        unconfirmed=(*status.unconfirmed, *filter(None, (asked,))),
    )


def llm_status(settings: Settings, store: Store | None = None) -> LlmStatus:
    """Return the language model, its tokens and requests of today. Raises StoreUnavailable."""
    today = LlmUsage()
    if store is not None:
        with store.read() as reader:
            today = reader.spending(day_of(now_ms()))
    return LlmStatus(
        url=settings.llm_url.partition("?")[0],
        model=settings.llm_model,
        daily_tokens=settings.llm_daily_tokens,
        tokens_today=today.tokens,
        requests_today=today.requests,
    )


def waiting_text(status: Status) -> str:
    """Return as text how many events wait to be stored, and how many cannot be read."""
    bad = f", {counted(status.bad_events, 'event')} cannot be read" * bool(status.bad_events)
    return f"{counted(status.spool_depth, 'event')} to be stored{bad}"


def spent_text(llm: LlmStatus) -> str:
    """Return as text the tokens and requests of the language model today."""
    requests = counted(llm.requests_today, "request")
    text = f"{llm.tokens_today:,} of {llm.daily_tokens:,} tokens, {requests}"
    return f"{text}; no more until midnight UTC" if llm.is_spent else text


def day_of(at_ms: int) -> str:
    """Return the UTC day of a time, e.g. ``2026-11-22``."""
    return iso(at_ms)[:10]


def with_spool(status: Status, home: Home) -> Status:
    """Return the status with the spool's counts, or with the reason why it cannot be read."""
    spool = Spool(home.spool)
    problems = [status.degraded]
    if (loss := recent(home, now_ms=now_ms())) and loss.lost:
        problems.append(f"lost: {loss}")
    if cap := size_cap.text(home, now_ms=now_ms()):
        problems.append(f"size: {cap}")
    if home.spool.exists() and not os.access(home.spool, os.W_OK):
        problems.append(f"spool: {home.spool} cannot be written, and nothing new is recorded")
    unconfirmed: tuple[str, ...] = ()
    with suppress(ConfigInvalid):  # as the daemon and the doctor say themselves
        unconfirmed = config.unconfirmed(home, config.written(home))
    try:
        if found := refused(home):
            problems.append(f"hooks: {refused_text(found)}")
        status = msgspec.structs.replace(
            status,
            refused_events=found.events if found else 0,
            paused=tuple(map(paused, spool.pauses.now(now_ms()))),
            unconfirmed=(*status.unconfirmed, *unconfirmed),
            spool_depth=spool.depth(),
            oldest_spooled_at=_iso(spool.oldest_ms()),
            bad_events=spool.bad(),
            unknown_clients=dict(Counter(filter(None, map(unknown_client, spool.bad_reasons())))),
            spool_bytes=sum(map(_size_bytes, (home.spool / "tmp", home.spool / "shell"))),
        )
    except OSError as error:
        problems.append(f"spool: {error.filename} cannot be read: {error.strerror}")
    return msgspec.structs.replace(status, degraded=next(filter(None, problems), None))


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def paused(pause: Pause) -> Paused:
    """Return a pause as a row of the status."""
    where = "everywhere" if pause.scope == EVERYWHERE else pause.scope
    if pause.scope.startswith(OF_SESSION):
        where = f"for session {pause.scope.removeprefix(OF_SESSION)}"
    ends_at = None if pause.is_unending else iso(pause.until_ms)
    return Paused(where=where, started_at=iso(pause.from_ms), ends_at=ends_at)


def paused_text(found: Paused) -> str:
    """Return as text where recording is paused, and until when."""
    until = minute_of(found.ends_at) if found.ends_at else "resumed"
    return f"{'in ' if found.where.startswith('/') else ''}{found.where} until {until}"


def _size_bytes(folder: Path) -> int:
    total = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # stored and acknowledged meanwhile
                total += entry.stat(follow_symlinks=False).st_size
    return total


def refused(home: Home) -> Refusals | None:
    """Return the count of events that hooks could not write lately, if any. Raises OSError."""
    found = refusals.read(home.refused)
    return found if found and found.last_ms >= now_ms() - REMEMBERED_MS else None


def missing(home: Home) -> str:
    """Return as text the events that were lost, or soon will be; empty if there are none."""
    losses = [refused_text(found)] if (found := refused(home)) else []
    loss = recent(home, now_ms=now_ms())
    losses += [str(loss)] if loss and loss.lost else []
    lines = [f"({'; '.join(losses)}; what happened then is missing here)"] if losses else []
    lines += [f"({cap})"] if (cap := size_cap.text(home, now_ms=now_ms())) else []
    return "\n".join(lines)


def refused_text(found: Refusals) -> str:
    """Return as text how many events were refused, and when."""
    since, until = (iso(ms)[:16].replace("T", " ") for ms in (found.first_ms, found.last_ms))
    when = f"at {since} UTC" if since == until else f"from {since} to {until} UTC"
    why = "the disk was full, or the spool could not be written"
    return f"at least {counted(found.events, 'event')} refused {when}: {why}"


def status_rows(status: Status) -> list[tuple[str, str]]:
    """Return a status as rows for a person: a name and what is said of it."""
    running = f"running (pid {status.pid})" if status.pid else "down (observer up starts it)"
    amounts = [counted(getattr(status, f"{one}s"), one) for one in ("event", "item", "project")]
    last = iso_ms(status.last_stored_at or "")
    lines = [
        ("daemon", running),
        ("version", status.version),
        ("home", status.home),
        ("stored", ", ".join(amounts)),
        ("last stored", f"{minute(last)} ({age_text(now_ms() - last)} ago)" if last else "never"),
        ("sessions", f"{status.active_sessions} active of {status.sessions}"),
        ("waiting", waiting_text(status)),
        ("size", f"{size_text(status.db_bytes)} database, {size_text(status.spool_bytes)} waiting"),
    ]
    if status.uptime_ms is not None:
        lines.insert(1, ("uptime", age_text(status.uptime_ms)))
    if status.model:
        of = f"{status.vectors:,} of " if status.to_embed > status.vectors else ""
        found = of + counted(max(status.vectors, status.to_embed), "item")
        lines.append(("model", f"{status.model}; {found} can be found by meaning"))
    if status.llm:
        lines.append(("llm", f"{status.llm.model}: {spent_text(status.llm)}"))
    lines += [("watched" if one.folders else "not watched", str(one)) for one in status.watched]
    lines += [(f"notes {each.name}", str(each)) for each in status.note_folders]
    lines += [
        ("kept unread", f"{counted(count, 'event')} of {client}, which observer does not know yet")
        for client, count in status.unknown_clients.items()
    ]
    return lines + _goes_on(status)


def _goes_on(status: Status) -> list[tuple[str, str]]:
    """Return what the daemon is busy with, and what keeps it from recording."""
    lines = []
    if status.importing:
        stored = f"{status.importing.done:,} of {counted(status.importing.sessions, 'session')}"
        lines.append(("importing", f"{stored} stored, in the background"))
    what = f"{counted(status.redacting, 'stored event')} with secrets that were recognised later"
    lines += [("redacting", what)] * bool(status.redacting)
    if status.following:
        lines.append(("following", ", ".join(status.following)))
    lines += [("paused", paused_text(one)) for one in status.paused]
    lines += [
        ("unconfirmed", f"{one}: deletes nothing until you agree: observer config set {one}")
        for one in status.unconfirmed
    ]
    lines += [("not recorded", f"{one}; {one.hint}") for one in status.policies]
    if status.http:
        lines.append(("http", status.http))
    if status.degraded:
        lines.append(("degraded", status.degraded))
    return lines
