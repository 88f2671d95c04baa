"""The home's side of a share: what leaves, what is taken in, and one round of both.

Every step may be repeated. Records are made in one transaction with the note of what left, and wait
in the database until the carrier has them; what is taken in is an event whose id follows from the
record, and only then counts as known. Whoever is killed in between does the same once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, get_args
from uuid import uuid4

import msgspec
import orjson
from msgspec.structs import replace

from observer.core.errors import ObserverError, ShareUnavailable
from observer.core.events import Event, Scope, Shared
from observer.core.model import UNASSIGNED, Item, Link, Project, Receipt, item_uuid, seq_of
from observer.core.value import decode_json
from observer.projects.policy import Policies
from observer.redaction.redact import redact
from observer.store.interface import Store
from observer.store.reader import StoreReader
from observer.store.shares import GONE, Refusal, ShareState, Waiting, tombstone_key
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.sync.record import Carrier, ProjectKey, Record, Refused, chained

BATCH = 500
"""Records that are made, carried away, fetched or taken in at once."""
MOST_BYTES = 1 << 19
"""Of a record's item; a note has at most 64 KiB of characters."""
TYPES = frozenset({"commit", "fix"})
"""What of the captured leaves, beside summaries."""
TURN = "turn"
CLIENT = "observer"
_LEAVES = frozenset({"note", "summary"})
_LOCAL: dict[str, Any] = {  # fields of several types
    "id": 0,
    "project_id": None,
    "session_id": None,
    "owner": "",
    "enrichment": None,
    "approval": "",
    "suspicion": "",
    "file": "",
    "stale_ms": None,
    "deleted_ms": None,
    "person": "",
    "validity": (),
}
"""What only this machine knows of an item, or says of it for itself."""
_LAST = 2**63 - 1

Write = Callable[[Callable[[Writer], None]], None]
"""Carries something out in a transaction of its own."""
Ingest = Callable[[Sequence[Event], int | None], Sequence[Receipt]]


class Round(NamedTuple):
    """What one round did, in records: made here, taken in, refused."""

    sent: int = 0
    taken: int = 0
    refused: int = 0


class HomeSide(NamedTuple):
    """What of a home a share needs.

    `person` is the name of its owner, `folder` that person's own folder.
    """

    store: Store
    write: Write
    ingest: Ingest
    person: str
    tombstones: Tombstones
    policies: Policies
    now_ms: Callable[[], int]
    folder: str = ""


def sync_once(home: HomeSide, name: str, carrier: Carrier) -> Round:
    """Fetch and take in what is there, then send what has changed here.

    Fetched first, so that what is gone elsewhere is not sent, and that a home which was restored
    finds out what it once sent.

    Raises:
        ShareUnavailable: the share is out of reach; what was done stays done.
        StoreUnavailable: the store cannot be written.
    """
    taken, refused = _pull(home, name, carrier)
    sent = _push(home, name, carrier)
    at_ms = home.now_ms()
    _change(home, name, pulled_ms=at_ms, pushed_ms=at_ms, fault="")
    return Round(sent, taken, refused)


def failed(home: HomeSide, name: str, error: ObserverError) -> None:
    """Note why a round failed."""
    _change(home, name, fault=str(error))


def _change(home: HomeSide, name: str, **fields: Any) -> None:  # noqa: ANN401 - of several types
    home.write(lambda writer: writer.put_share(replace(share_called(writer, name), **fields)))


def share_called(reader: StoreReader, name: str) -> ShareState:
    """Return a share by its name.

    Raises:
        ShareUnavailable: there is none; it was removed meanwhile.
    """
    for share in reader.shares():
        if share.name == name:
            return share
    raise ShareUnavailable(f"no share {name!r}", hint="see: observer sync status")


def left_key(url: str) -> str:
    """Return the name of the fact under which uuid this home was in a share that it has left."""
    return f"left {url}"


# --- what leaves ---------------------------------------------------------------------------------


class Leaving(NamedTuple):
    """An item that leaves: as a record that has no place in the chain yet, or `item` deleted."""

    item: Item
    project: Project
    event_id: str
    body: str


def _push(home: HomeSide, name: str, carrier: Carrier) -> int:
    sent = _carry_away(home, name, carrier)
    while _collect(home, name):
        sent += _carry_away(home, name, carrier)
    return sent + _carry_away(home, name, carrier)


def _carry_away(home: HomeSide, name: str, carrier: Carrier) -> int:
    """Push what waits; return how many records."""
    sent = 0
    while True:
        with home.store.read() as reader:
            waiting = reader.waiting(name, limit=BATCH)
        if not waiting:
            return sent
        carrier.push([decode_json(one.record, Record) for one in waiting])
        home.write(partial(Writer.drop_waiting, share=name, until=waiting[-1].sequence))
        sent += len(waiting)


def _collect(home: HomeSide, name: str) -> bool:
    """Make records of the next changes; return whether there may be more."""
    with home.store.read() as reader:
        share = share_called(reader, name)
        if (share.epoch, share.change) == (reader.epoch(), reader.newest_change()):
            return False
    counts: list[int] = []

    def work(writer: Writer) -> None:
        share = share_called(writer, name)
        if share.epoch != writer.epoch():
            share = _begun_anew(home, writer, share)
        changes = _changes(writer, share)
        departing = list(leaving(home, writer, share, [item for _, item in changes]))
        share = _send(home, writer, share, departing)
        last = changes[-1][0] if len(changes) == BATCH else writer.newest_change()
        writer.put_share(replace(share, change=last))
        counts.append(len(changes))

    home.write(work)
    return counts == [BATCH]


def _changes(reader: StoreReader, share: ShareState) -> list[tuple[int, Item]]:
    types = TYPES | {TURN} if share.turns else TYPES
    return reader.leaving(after=share.change, projects=share.projects, types=types, limit=BATCH)


def _begun_anew(home: HomeSide, writer: Writer, share: ShareState) -> ShareState:
    """Return a share whose items are looked at from the first on; what was purged is gone.

    Only a purge and a rebuild number changes anew.
    """
    gone = [
        one for one in writer.departed(share.name) if home.tombstones.names(one.event_id, "", ())
    ]
    for start in range(0, len(gone), BATCH):
        part = gone[start:][:BATCH]
        share = _chain(writer, share, [_tombstone(home, one.uuid) for one in part])
        writer.put_sent(share.name, ((one.uuid, GONE, one.event_id) for one in part))
    return replace(share, epoch=writer.epoch(), change=0)


def leaving(
    home: HomeSide, reader: StoreReader, share: ShareState, items: Iterable[Item]
) -> Iterator[Leaving]:
    """Yield what leaves of some items, by today's rules; of deleted ones all.

    What a session comes to leaves once that is over: until then it grows with every event.
    """
    projects = {project.id: project for project in reader.projects()}
    apart = home.policies.unshared(projects.values())
    active = {one.id for one in reader.sessions(active=True, limit=_LAST)}
    items = list(items)
    firsts = {one.seq: one for one in reader.logged({seq_of(item.id) for item in items})}
    for item in items:
        first = firsts.get(seq_of(item.id))
        if first is None or item.file:
            continue
        project = projects[first.project_id if item.project_id is None else item.project_id]
        if share.projects and project.id not in share.projects:
            continue
        if item.deleted_ms is not None:
            yield Leaving(item, project, first.event.id, "")
        elif project.id in apart or project.id == UNASSIGNED or not _may_leave(item):
            continue
        elif item.session_id not in active or item.kind != "summary":
            yield Leaving(item, project, first.event.id, _body(home, reader, item, project))


def first_leaving(
    home: HomeSide, reader: StoreReader, share: ShareState, *, limit: int
) -> list[Leaving]:
    """Return the first things that would leave for a share that is not there yet."""
    found: list[Leaving] = []
    after = 0
    while len(found) < limit:
        changes = _changes(reader, replace(share, change=after))
        items = [item for _, item in changes if item.deleted_ms is None]
        found += leaving(home, reader, share, items)
        if len(changes) < BATCH:
            break
        after = changes[-1][0]
    return found[:limit]


def _may_leave(item: Item) -> bool:
    """Return True unless an item is somebody's own, or waits for a person to judge it."""
    is_trusted = not item.suspicion and item.approval != "provisional"
    return item.scope != "personal" and is_trusted and not item.person


def _send(
    home: HomeSide, writer: Writer, share: ShareState, departing: Sequence[Leaving]
) -> ShareState:
    """Chain what has changed since it left, and note what left; return the share as it is then."""
    uuids = [one.item.uuid for one in departing]
    sent, gone = writer.sent(share.name, uuids), writer.gone(uuids)
    records, noted = [], []
    for one in departing:
        uuid, is_deleted = one.item.uuid, one.item.deleted_ms is not None
        is_foreign = one.event_id.startswith(f"{share.key}-")
        if uuid in gone or sent.get(uuid) == GONE:
            continue
        if is_deleted and (uuid in sent or is_foreign):
            records.append(_tombstone(home, uuid, key_of(one.project)))
            noted.append((uuid, GONE, one.event_id))
        elif not is_deleted:
            record = _record(home, one)
            digest = _digest(record)
            if sent.get(uuid) != digest:
                records.append(record)
                noted.append((uuid, digest, one.event_id))
    writer.put_sent(share.name, noted)
    return _chain(writer, share, records)


def _chain(writer: Writer, share: ShareState, records: Iterable[Record]) -> ShareState:
    """Give records their place behind those that were made before, and have them wait."""
    waiting = []
    for record in records:
        placed = replace(
            record, origin=share.origin, sequence=share.sequence + 1, previous=share.hash
        )
        share = replace(share, sequence=placed.sequence, hash=placed.hash())
        waiting.append(Waiting(placed.sequence, msgspec.json.encode(placed).decode()))
    writer.put_waiting(share.name, waiting)
    return share


def _record(home: HomeSide, one: Leaving) -> Record:
    return Record(
        origin="",
        sequence=0,
        previous="",
        kind="item",
        uuid=one.item.uuid,
        project=key_of(one.project),
        author=home.person,
        visibility=one.item.scope,
        at_ms=one.item.updated_ms,
        body=one.body,
    )


def _tombstone(home: HomeSide, uuid: str, project: ProjectKey | None = None) -> Record:
    return Record(
        origin="",
        sequence=0,
        previous="",
        kind="tombstone",
        uuid=uuid,
        project=project or ProjectKey(name=""),
        author=home.person,
        visibility="project",
        at_ms=home.now_ms(),
    )


def _digest(record: Record) -> str:
    data = msgspec.json.encode(replace(record, at_ms=0), order="sorted")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def key_of(project: Project) -> ProjectKey:
    """Return what other machines recognise a project by; remotes on this one's disk are none."""
    remotes = tuple(remote for remote in project.remotes if not remote.startswith(("/", "file:")))
    return ProjectKey(name=project.name, remotes=remotes, root_commit=project.root_commit)


def _body(home: HomeSide, reader: StoreReader, item: Item, project: Project) -> str:
    """Return an item as JSON, redacted, without what only this machine knows."""
    targets = {link.target for link in item.links if link.target}
    known = {one.id: one.uuid for one in reader.items(sorted(targets))}
    plain = replace(
        item,
        **_LOCAL,
        files_read=_relative(item.files_read),
        files_modified=_relative(item.files_modified),
        links=tuple(_by_uuid(link, known) for link in item.links),
    )
    text = orjson.dumps(_without_folders(msgspec.to_builtins(redact(_bare(plain))), home, project))
    return text.decode()


def _bare(item: Item) -> Item:
    """Return an item without what follows from the rest, which would be searched for secrets."""
    return replace(item, uuid="", content_hash="" if item.kind == "note" else item.content_hash)


def _relative(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if not path.startswith("/"))


def _by_uuid(link: Link, known: Mapping[int, str]) -> Link:
    """Return a link that leads by uuid to what it leads to by an id of this home."""
    if not link.target:
        return link
    return replace(link, target=0, title=known.get(link.target, link.title))


def _without_folders(value: Any, home: HomeSide, project: Project) -> Any:  # noqa: ANN401 - JSON
    """Return JSON without the folders of this machine that a text begins paths with."""
    if isinstance(value, dict):
        return {name: _without_folders(part, home, project) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_folders(part, home, project) for part in value]
    if isinstance(value, str) and "/" in value:
        for root in sorted(project.roots, key=len, reverse=True):
            value = value.replace(f"{root}/", "")
        if home.folder:
            value = value.replace(f"{home.folder}/", "~/")
    return value


# --- what is taken in ----------------------------------------------------------------------------


def _pull(home: HomeSide, name: str, carrier: Carrier) -> tuple[int, int]:
    """Take in all that is there; return how many records, and of how many homes some were refused.

    Of a home whose records cannot be trusted from one on, nothing more is fetched in this round.
    """
    taken = 0
    stuck: set[str] = set()
    while True:
        with home.store.read() as reader:
            share, last = share_called(reader, name), reader.known_origins(name)
            own = carried(reader, share)
        since = {origin: sequence for origin, (sequence, _) in last.items()}
        pulled = carrier.pull(
            since | {share.origin: own[0]} | dict.fromkeys(stuck, _LAST), limit=BATCH
        )
        mine = [one for one in pulled.records if one.origin == share.origin]
        is_back = bool(mine) and not _is_known(home, share, mine)
        good, broken = chained(
            (one for one in pulled.records if is_back or one.origin != share.origin),
            last | {share.origin: own},
        )
        if is_back and any(one.origin == share.origin for one in broken):
            _as_another(home, share, own)
            continue
        fresh = [one for one in (*broken, *pulled.refused) if one.origin not in stuck]
        bad = _take_in(home, share, good)
        if is_back:
            _catch_up(home, share, mine[-1])
        if good or fresh:
            _note_taken(home, share, good, (*bad, *fresh))
        stuck |= {one.origin for one in fresh}
        taken += len(good) - len(bad)
        if not (good or mine or fresh):
            return taken, len(stuck)


def carried(reader: StoreReader, share: ShareState) -> tuple[int, str]:
    """Return number and hash of the newest own record that was carried away."""
    for one in reader.waiting(share.name, limit=1):
        return one.sequence - 1, decode_json(one.record, Record).previous
    return share.sequence, share.hash


def _is_known(home: HomeSide, share: ShareState, mine: Sequence[Record]) -> bool:
    """Note that own records are there that were taken for waiting; False if they are not these."""
    with home.store.read() as reader:
        waiting = {one.sequence: one.record for one in reader.waiting(share.name)}
    made = {number: decode_json(text, Record).hash() for number, text in waiting.items()}
    if any(made.get(one.sequence) != one.hash() for one in mine):
        return False
    until = max(one.sequence for one in mine)
    home.write(lambda writer: writer.drop_waiting(share.name, until=until))
    return True


def _catch_up(home: HomeSide, share: ShareState, newest: Record) -> None:
    """Go on behind records that this home has made, and does not know: it was restored."""

    def work(writer: Writer) -> None:
        waiting = [decode_json(one.record, Record) for one in writer.waiting(share.name)]
        writer.drop_waiting(share.name, until=_LAST)
        after = replace(share, sequence=newest.sequence, hash=newest.hash())
        writer.put_share(_chain(writer, after, waiting))

    home.write(work)


def _as_another(home: HomeSide, share: ShareState, own: tuple[int, str]) -> None:
    """Go on under another uuid: what is there in our name, this home has not made.

    What it was is another home's now.
    """

    def work(writer: Writer) -> None:
        waiting = [decode_json(one.record, Record) for one in writer.waiting(share.name)]
        writer.drop_waiting(share.name, until=_LAST)
        anew = replace(share, origin=str(uuid4()), sequence=0, hash="")
        writer.put_share(_chain(writer, anew, waiting))
        if own[0]:
            writer.put_origins(share.name, {share.origin: own})

    home.write(work)


def _take_in(home: HomeSide, share: ShareState, records: Sequence[Record]) -> list[Refused]:
    """Store records as events, in their order; return those that cannot be read."""
    with home.store.read() as reader:
        known = reader.by_uuid(one.uuid for one in records)
        gone = reader.gone(one.uuid for one in records)
    gone |= {one.uuid for one in records if one.kind == "tombstone"}
    places = _Places(home, share, known)
    bad: list[Refused] = []
    wanted: list[tuple[int, Event]] = []
    for record in records:
        if record.kind == "item" and record.uuid in gone:
            continue  # not even its text is kept
        try:
            event = _event(home, share, record, is_new=record.uuid not in known)
        except (msgspec.MsgspecError, ValueError) as error:
            bad.append(Refused(record.origin, record.sequence, f"it is no item: {error}"))
            continue
        project = places.of(record)
        if project is not None:
            wanted.append((project.id, replace(event, cwd="".join(project.roots[-1:]))))
    for project_id, group in groupby(wanted, key=lambda one: one[0]):
        home.ingest([event for _, event in group], project_id)
    return bad


class _Places:
    """The projects of records, each looked for once."""

    def __init__(self, home: HomeSide, share: ShareState, known: Mapping[str, Item]) -> None:
        self._home = home
        self._share = share
        self._known = known
        self._found: dict[ProjectKey, Project | None] = {}

    def of(self, record: Record) -> Project | None:
        """Return the project of a record, made for it if need be; None if it is not of the share.

        A deletion is of the project that has the item.
        """
        item = self._known.get(record.uuid)
        if record.kind == "tombstone":
            project_id = item.project_id if item else None
            with self._home.store.read() as reader:
                there = {one.id: one for one in reader.projects()}[project_id or UNASSIGNED]
            is_apart = self._share.projects and there.id not in (UNASSIGNED, *self._share.projects)
            return None if is_apart else there
        if record.project not in self._found:
            self._home.write(partial(self._look, key=record.project))
        return self._found[record.project]

    def _look(self, writer: Writer, key: ProjectKey) -> None:
        share, projects = self._share, writer.projects()
        known = [one for one in projects if not share.projects or one.id in share.projects]
        found = match(key, known)
        if found is None and not share.projects:
            found = Project(
                id=max(one.id for one in projects) + 1,
                uuid=item_uuid(f"project:{share.key}:{key.name}", self._home.now_ms()),
                name=key.name or "shared",
                remotes=key.remotes,
                root_commit=key.root_commit,
                created_ms=self._home.now_ms(),
            )
            writer.put_project(found)
        self._found[key] = found


def _event(home: HomeSide, share: ShareState, record: Record, *, is_new: bool) -> Event:
    """Return the event that a record becomes.

    Raises:
        ValueError, MsgspecError: it holds no item that may be shared.
    """
    item = _item(record) if record.kind == "item" else None
    # A commit is known by its hash, whoever reports it; a later version of it is no report.
    is_commit = is_new and item is not None and item.type == "commit" and bool(item.commit)
    dedup = f"commit:{item.commit}" if item and is_commit else ""
    return Event(
        id=f"{share.key}-{record.origin}-{record.sequence}",
        at_ms=home.now_ms(),
        client=CLIENT,
        author=item.author if item else "system",
        dedup=tombstone_key(record.uuid) if item is None else dedup,
        body=Shared(
            share=share.key,
            origin=record.origin,
            sequence=record.sequence,
            uuid=record.uuid,
            person=record.author or "somebody",
            item=None if item is None else msgspec.to_builtins(_bare(item)),
        ),
    )


def _item(record: Record) -> Item:
    if len(record.body) > MOST_BYTES:
        raise ValueError("it is too long")
    item = replace(decode_json(record.body, Item), **_LOCAL, uuid=record.uuid)
    if item.scope not in set(get_args(Scope)) - {"personal"} or item.scope != record.visibility:
        raise ValueError(f"it is {item.scope}")
    if item.kind not in _LEAVES and item.type not in TYPES | {TURN}:
        raise ValueError(f"it is a {item.type}")
    return item


def match(key: ProjectKey, projects: Collection[Project]) -> Project | None:
    """Return the project that a key names: by a remote, by the oldest commit, else by its name.

    Two with remotes, and none in common, are forks; a name counts only where nothing else is known.
    """
    for one in projects:
        if set(key.remotes) & set(key_of(one).remotes):
            return one
    for one in projects:
        is_same = bool(key.root_commit) and key.root_commit == one.root_commit
        if is_same and not (key.remotes and key_of(one).remotes):
            return one
    for one in projects:
        is_bare = not (key.remotes or key.root_commit or one.remotes or one.root_commit)
        if is_bare and one.id != UNASSIGNED and one.name == key.name:
            return one
    return None


def _note_taken(
    home: HomeSide, share: ShareState, good: Sequence[Record], refused: Collection[Refused]
) -> None:
    """Note how far records were taken in, and what was not."""
    at_ms = home.now_ms()

    def work(writer: Writer) -> None:
        origins = {one.origin: (one.sequence, one.hash()) for one in good}
        origins.pop(share.origin, None)
        writer.drop_refusals(share.name, origins)
        writer.put_origins(share.name, origins)
        writer.put_refusals(share.name, [Refusal(**one._asdict(), at_ms=at_ms) for one in refused])
        writer.send_again(share.name, (one.uuid for one in good))

    home.write(work)
